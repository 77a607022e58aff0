import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { planStatefulSet, type StatefulSituation } from './desired.ts';
import { claimOf, exampleStatefulSet, member, situationOf } from './example.ts';
import { revisionOf } from './member-pod.ts';

const parallel = (spec: object = {}) =>
  exampleStatefulSet({ podManagementPolicy: 'Parallel', ...spec });
const rolling = (partition: number, spec: object = {}) =>
  exampleStatefulSet({ updateStrategy: { rollingUpdate: { partition } }, ...spec });
const old = { revision: 'old', readySeconds: 60 };
const unready = {};
const leaving = { readySeconds: 60, isLeaving: true };

const claim = { metadata: { name: 'data' }, spec: {} };
const withClaims = (spec: object = {}) =>
  exampleStatefulSet({ replicas: 1, volumeClaimTemplates: [claim], ...spec });
const deleting = withClaims({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } });
const referring = (uid: string) => [
  { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid, controller: true },
];

const plans: readonly (readonly [
  string,
  readonly Pod[],
  Partial<StatefulSituation>,
  readonly string[],
])[] = [
  ['no pods', [], {}, ['create web-0 new']],
  ['a pod that is not ready', [member(0, unready)], {}, []],
  ['a pod that is ready', [member(0)], {}, ['create web-1 new']],
  ['all pods', [0, 1, 2].map((at) => member(at)), {}, []],
  ['no pods, in parallel', [], { set: parallel() }, [0, 1, 2].map((at) => `create web-${at} new`)],
  [
    'another first ordinal',
    [member(0)],
    { set: exampleStatefulSet({ replicas: 1, ordinals: { start: 5 } }) },
    ['create web-5 new'],
  ],
  [
    'a pod that is ready but not long enough',
    [member(0, { readySeconds: 10 })],
    { set: exampleStatefulSet({ minReadySeconds: 30 }) },
    [],
  ],
  ['a pod that is being deleted', [member(0, leaving), member(1)], {}, []],
  ['a failed pod', [member(0, { phase: 'Failed' })], {}, ['delete web-0 new']],
  ['a succeeded pod', [member(0), member(1, { phase: 'Succeeded' })], {}, ['delete web-1 new']],
  ['a failed pod that is being deleted', [member(0, { phase: 'Failed', isLeaving: true })], {}, []],
  [
    'two pods too many',
    [0, 1, 2].map((at) => member(at)),
    { set: exampleStatefulSet({ replicas: 1 }) },
    ['delete web-2 new'],
  ],
  [
    'two pods too many, in parallel',
    [0, 1, 2].map((at) => member(at)),
    { set: parallel({ replicas: 1 }) },
    ['delete web-2 new', 'delete web-1 new'],
  ],
  [
    'a pod too many while one that stays is unhealthy',
    [member(0, unready), member(1)],
    { set: exampleStatefulSet({ replicas: 1 }) },
    [],
  ],
  [
    'two pods too many of which the lower is unhealthy',
    [member(0), member(1, unready), member(2)],
    { set: exampleStatefulSet({ replicas: 1 }) },
    ['delete web-2 new'],
  ],
  [
    'two pods too many of which the higher is unhealthy as well',
    [member(0), member(1, unready), member(2, unready)],
    { set: exampleStatefulSet({ replicas: 1 }) },
    [],
  ],
  [
    'one pod too many that is unhealthy',
    [member(0), member(1, unready)],
    { set: exampleStatefulSet({ replicas: 1 }) },
    ['delete web-1 new'],
  ],
  ['a new template', [0, 1, 2].map((at) => member(at, old)), {}, ['delete web-2 old']],
  [
    'a new template that is not available at the top yet',
    [member(0, old), member(1, old), member(2, unready)],
    { set: parallel() },
    [],
  ],
  [
    'a new template that is available at the top',
    [member(0, old), member(1, old), member(2)],
    {},
    ['delete web-1 old'],
  ],
  ['a partition', [member(0, old), member(1, old), member(2)], { set: rolling(2) }, []],
  [
    'a missing pod below the partition',
    [member(1, old), member(2)],
    { set: rolling(2) },
    ['create web-0 old'],
  ],
  [
    'a missing pod at the partition',
    [member(0, old), member(1, old)],
    { set: rolling(2) },
    ['create web-2 new'],
  ],
  [
    'a new template with OnDelete',
    [0, 1, 2].map((at) => member(at, old)),
    { set: exampleStatefulSet({ updateStrategy: { type: 'OnDelete' } }) },
    [],
  ],
  [
    'a missing pod with OnDelete',
    [member(0, old), member(1, old)],
    { set: exampleStatefulSet({ updateStrategy: { type: 'OnDelete' } }) },
    ['create web-2 new'],
  ],
  [
    'a claim of a former pod',
    [],
    { set: deleting, claimNamed: () => claimOf('data-web-0', referring('former')) },
    [],
  ],
  [
    'a claim that is there already',
    [],
    { set: withClaims(), claimNamed: () => claimOf('data-web-0') },
    ['create web-0 new'],
  ],
  [
    'a pod that waits for a claim that was deleted',
    [member(0, { phase: 'Pending' })],
    { set: withClaims() },
    ['claims web-0 new'],
  ],
];

for (const [title, pods, more, want] of plans) {
  test(`planStatefulSet() with ${title}`, () => {
    const { phases } = planStatefulSet(situationOf(pods, more));
    const actions = phases
      .flat()
      .map(({ action, pod }) => `${action} ${pod.metadata.name} ${revisionOf(pod)}`);
    assert.deepEqual(actions, want);
  });
}

test('planStatefulSet() says when it waits for a claim to go', () => {
  const claimNamed = () => claimOf('data-web-0', referring('former'));
  assert.equal(
    planStatefulSet(situationOf([], { set: deleting, claimNamed })).isWaitingForClaims,
    true,
  );
  assert.equal(planStatefulSet(situationOf([])).isWaitingForClaims, false);
});

test('planStatefulSet() labels a pod that it has adopted', () => {
  const { metadata, ...pod } = member(0);
  const adopted = { ...pod, metadata: { ...metadata, labels: { app: 'web' } } };
  const [phase] = planStatefulSet(situationOf([adopted, member(1), member(2)])).phases;
  assert.deepEqual(
    phase?.map(({ action, pod: { metadata: after } }) => [action, after.labels]),
    [
      [
        'update',
        {
          app: 'web',
          'statefulset.kubernetes.io/pod-name': 'web-0',
          'apps.kubernetes.io/pod-index': '0',
        },
      ],
    ],
  );
});

test('planStatefulSet() plans no more than 500 changes at a time, whatever the size', () => {
  const set = parallel({ replicas: 2 ** 31 - 1 });
  const [phase] = planStatefulSet(situationOf([], { set })).phases;
  assert.equal(phase?.length, 500);
});
