import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { daemonSetDefinition } from './definition.ts';
import type { DaemonSet } from './types.ts';

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const selector = { matchLabels: { app: 'a' } };

function make(spec: object = {}, metadata: object = {}): DaemonSet {
  const { object } = decode(daemonSetDefinition.schema, {
    metadata: { name: 'd', namespace: 'default', ...metadata },
    spec: { selector, template, ...spec },
  });
  return daemonSetDefinition.defaults?.(object as DaemonSet) as DaemonSet;
}

const strategy = (rollingUpdate: object) => ({ updateStrategy: { rollingUpdate } });
const at = 'spec.updateStrategy.rollingUpdate';
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['defaults', {}, []],
  [
    'a selector of everything',
    { selector: {} },
    ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  ],
  [
    'another restart policy',
    { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    'an unknown strategy',
    { updateStrategy: { type: 'Odd' } },
    [
      'spec.updateStrategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
    ],
  ],
  [
    'neither of both',
    strategy({ maxUnavailable: 0 }),
    [`${at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`],
  ],
  [
    'both',
    strategy({ maxUnavailable: 1, maxSurge: '10%' }),
    [`${at}.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero`],
  ],
  [
    'more than all',
    strategy({ maxUnavailable: '101%' }),
    [`${at}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`],
  ],
  [
    'a negative number',
    { minReadySeconds: -1, ...strategy({ maxUnavailable: -1 }) },
    [
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      `${at}.maxUnavailable: Invalid value: -1: must be greater than or equal to 0`,
    ],
  ],
];

for (const [title, spec, want] of refused) {
  test(`validateCreate() of a daemon set with ${title}`, () => {
    const errors = daemonSetDefinition.create.validateCreate(make(spec));
    assert.deepEqual(errors.map(errorText), want);
  });
}

test('the annotation counts changes of the template, whatever clients write', () => {
  const context = { now: '2026-01-01T00:00:00Z' };
  const count = ({ metadata }: DaemonSet) =>
    metadata.annotations?.['deprecated.daemonset.template.generation'];
  const annotated = (value: string) => ({
    annotations: { 'deprecated.daemonset.template.generation': value },
  });
  const { prepareCreate } = daemonSetDefinition.create;
  const { prepareUpdate } = daemonSetDefinition.update;
  assert.equal(count(prepareCreate?.(make(), context) as DaemonSet), '1');
  assert.equal(count(prepareCreate?.(make({}, annotated('7')), context) as DaemonSet), '7');
  assert.equal(count(prepareCreate?.(make({}, annotated('x')), context) as DaemonSet), '1');
  const before = make({}, annotated('7'));
  const scaled = make({ minReadySeconds: 3 }, annotated('1'));
  assert.equal(count(prepareUpdate?.(before, scaled, context) as DaemonSet), '7');
  const changed = make({
    template: { ...template, spec: { ...template.spec, hostNetwork: true } },
  });
  assert.equal(count(prepareUpdate?.(before, changed, context) as DaemonSet), '8');
});
