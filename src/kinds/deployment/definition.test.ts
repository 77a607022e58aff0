import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { replicaSetDefinition } from '../replica-set/definition.ts';
import type { ReplicaSet } from '../replica-set/types.ts';
import { replicationControllerDefinition } from '../replication-controller/definition.ts';
import type { ReplicationController } from '../replication-controller/types.ts';
import { deploymentDefinition } from './definition.ts';
import type { Deployment } from './types.ts';

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const selector = { matchLabels: { app: 'a' } };

function make<T>(
  definition: {
    readonly schema: Parameters<typeof decode>[0];
    readonly defaults?: (object: T) => T;
  },
  spec: object,
  more: object = {},
): T {
  const raw = { metadata: { name: 'd', namespace: 'default' }, spec, ...more };
  const object = decode(definition.schema, raw).object as T;
  return definition.defaults?.(object) ?? object;
}

const deployment = (spec: object, more?: object): Deployment =>
  make<Deployment>(deploymentDefinition, { selector, template, ...spec }, more);

test('defaultDeployment() sets strategy and counts', () => {
  const { template: filled, ...spec } = deployment({}).spec;
  assert.deepEqual(spec, {
    replicas: 1,
    selector,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  assert.equal(filled.spec.dnsPolicy, 'ClusterFirst');
  assert.equal(filled.spec.enableServiceLinks, undefined);
  assert.deepEqual(deployment({ strategy: { type: 'Recreate' } }).spec.strategy, {
    type: 'Recreate',
  });
});

const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const noMatch = '`selector` does not match template `labels`';
const refused: readonly [string, object, readonly string[]][] = [
  [
    'no selector',
    { selector: null },
    [
      'spec.selector: Required value',
      `spec.template.metadata.labels: Invalid value: {"app":"a"}: ${noMatch}`,
    ],
  ],
  [
    'empty selector',
    { selector: {} },
    ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  ],
  [
    'selector of other pods',
    { selector: { matchLabels: { app: 'b' } } },
    [`spec.template.metadata.labels: Invalid value: {"app":"a"}: ${noMatch}`],
  ],
  [
    'labels and annotations that are none',
    {
      template: {
        ...template,
        metadata: { labels: { app: 'a', 'a b': '' }, annotations: { 'a b': '' } },
      },
    },
    [
      `spec.template.labels: Invalid value: "a b": ${namePart}`,
      `spec.template.annotations: Invalid value: "a b": ${namePart}`,
    ],
  ],
  [
    'negative size',
    { replicas: -1 },
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'pods that end',
    { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    'update that cannot move',
    { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'deadline before pods are available',
    { minReadySeconds: 10, progressDeadlineSeconds: 10 },
    ['spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds'],
  ],
];

for (const [name, spec, wanted] of refused) {
  test(`validateDeployment() refuses: ${name}`, () => {
    const errors = deploymentDefinition.create.validateCreate(deployment(spec));
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

test('validateDeploymentUpdate() keeps the selector', () => {
  const other = {
    selector: { matchLabels: { b: 'c' } },
    template: { ...template, metadata: { labels: { b: 'c' } } },
  };
  const errors = deploymentDefinition.update.validateUpdate(deployment({}), deployment(other));
  assert.deepEqual(errors.map(errorText), [
    'spec.selector: Invalid value: {"matchLabels":{"b":"c"}}: field is immutable',
  ]);
});

test('the generation of a deployment changes with spec and annotations', () => {
  const { generationChanges } = deploymentDefinition;
  const annotated = deployment({}, { metadata: { name: 'd', annotations: { a: 'b' } } });
  assert.equal(generationChanges?.(deployment({}), deployment({})), false);
  assert.equal(generationChanges?.(deployment({}), deployment({ replicas: 2 })), true);
  assert.equal(generationChanges?.(deployment({}), annotated), true);
});

test('the counts in a deployment’s status must be consistent', () => {
  const rules = deploymentDefinition.subresources?.find(({ name }) => name === 'status')?.rules;
  const errors = rules?.validateUpdate(
    deployment({}, { status: { collisionCount: 2 } }),
    deployment({}, { status: { replicas: 1, readyReplicas: 2, collisionCount: 1 } }),
  );
  assert.deepEqual(errors?.map(errorText), [
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.collisionCount: Invalid value: 1: cannot be decremented',
  ]);
});

test('deployment columns show counts, containers and selector', () => {
  const shown = deployment({ replicas: 3 }, { status: { replicas: 3, readyReplicas: 2 } });
  const cells = deploymentDefinition.columns.map((column) => column.cell(shown, 0));
  assert.deepEqual(cells, ['d', '2/3', 0, 0, '<unknown>', 'c', 'i', 'app=a']);
});

test('replicaSetDefinition sets defaults, clears the status and keeps the selector', () => {
  const set = make<ReplicaSet>(replicaSetDefinition, { selector, template });
  assert.equal(set.spec.replicas, 1);
  const created = replicaSetDefinition.create.prepareCreate?.(
    { ...set, status: { replicas: 5 } },
    { now: '' },
  );
  assert.deepEqual(created?.status, { replicas: 0 });
  assert.deepEqual(replicaSetDefinition.create.validateCreate(set), []);
});

test('replicationControllerDefinition defaults labels and selector to the template’s', () => {
  const controller = make<ReplicationController>(replicationControllerDefinition, { template });
  assert.deepEqual(controller.spec.selector, { app: 'a' });
  assert.deepEqual(controller.metadata.labels, { app: 'a' });
  const { validateCreate } = replicationControllerDefinition.create;
  assert.deepEqual(validateCreate(controller), []);
  const bare = make<ReplicationController>(replicationControllerDefinition, {});
  assert.deepEqual(validateCreate(bare).map(errorText), [
    'spec.selector: Required value',
    'spec.template: Required value',
  ]);
});
