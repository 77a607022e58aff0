import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { statefulSetDefinition } from './definition.ts';
import { memberOf } from './members.ts';
import type { StatefulSet } from './types.ts';

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const mounting = {
  ...template,
  spec: {
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/d' }] }],
  },
};
const selector = { matchLabels: { app: 'a' } };
const claim = (name: string) => ({ metadata: { name }, spec: {} });

function make(spec: object = {}): StatefulSet {
  const { object } = decode(statefulSetDefinition.schema, {
    metadata: { name: 's', namespace: 'default' },
    spec: { selector, template, ...spec },
  });
  return statefulSetDefinition.defaults?.(object as StatefulSet) as StatefulSet;
}

test('defaultStatefulSet() sets policies, strategy and counts', () => {
  const { template: _, selector: __, ...spec } = make().spec;
  assert.deepEqual(spec, {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
  assert.deepEqual(make({ updateStrategy: { type: 'RollingUpdate' } }).spec.updateStrategy, {
    type: 'RollingUpdate',
  });
});

const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['defaults', {}, []],
  ['a mount of a claim', { template: mounting, volumeClaimTemplates: [claim('data')] }, []],
  [
    'a mount of no claim',
    { template: mounting },
    ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
  ],
  [
    'an unknown retention policy',
    { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep' } },
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"',
    ],
  ],
  [
    'a partition with OnDelete',
    { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    [
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ],
  ],
];

for (const [title, spec, want] of refused) {
  test(`validateCreate() of a stateful set with ${title}`, () => {
    const errors = statefulSetDefinition.create.validateCreate(make(spec));
    assert.deepEqual(errors.map(errorText), want);
  });
}

test('prepareCreate() drops maxUnavailable, as a server without the feature does', () => {
  const { prepareCreate } = statefulSetDefinition.create;
  const set = make({ updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } });
  const prepared = prepareCreate?.(set, { now: '2026-01-01T00:00:00Z' });
  assert.deepEqual(prepared?.spec.updateStrategy.rollingUpdate, { partition: 0 });
});

test('warnOnCreate() warns about a negative history limit', () => {
  const warnings = statefulSetDefinition.create.warnOnCreate?.(make({ revisionHistoryLimit: -1 }));
  assert.deepEqual(warnings, [
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ]);
});

const names: readonly (readonly [string, ReturnType<typeof memberOf>])[] = [
  ['web-0', { set: 'web', ordinal: 0 }],
  ['my-web-12', { set: 'my-web', ordinal: 12 }],
  ['web', undefined],
  ['web-x', undefined],
  ['web-01', undefined],
  ['-1', undefined],
  ['web-99999999999', undefined],
  ['web-4294967296', undefined],
];

for (const [name, want] of names) {
  test(`memberOf() of ${name}`, () => {
    assert.deepEqual(memberOf({ metadata: { name } }), want);
  });
}
