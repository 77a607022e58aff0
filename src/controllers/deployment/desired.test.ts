import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '../../kinds/deployment/types.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { revisionAnnotation, revisionHistoryAnnotation } from './annotations.ts';
import { conditionOf } from './conditions.ts';
import { type DeploymentPlan, planDeployment, withCollision, withFailedCreate } from './desired.ts';
import { exampleDeployment, exampleSet, now } from './example.ts';
import { maxSurge, maxUnavailable, sizeOf, totalSize, wantedOf } from './limits.ts';
import { hashLabel } from './rollout-state.ts';

const planOf = (deployment: Deployment, replicaSets: readonly ReplicaSet[] = []): DeploymentPlan =>
  planDeployment({ deployment, replicaSets, pods: [], now });

/** `web-a 4→3`, with a star for a new set. */
const changesOf = ({ changes }: DeploymentPlan): readonly string[] =>
  changes.map(({ action, replicaSet, scaledFrom = '=' }) => {
    const star = action === 'create' ? '*' : '';
    return `${star}${replicaSet.metadata.labels?.[hashLabel]} ${scaledFrom}→${sizeOf(replicaSet)}`;
  });

const progressOf = ({ deployment }: DeploymentPlan): string => {
  const condition = deployment && conditionOf(deployment.status, 'Progressing');
  return `${condition?.status} ${condition?.reason} ${condition?.message}`;
};

test('planDeployment() creates the first replica set', () => {
  const plan = planOf(exampleDeployment());
  const [change] = plan.changes;
  const set = change?.replicaSet;
  const hash = set?.metadata.labels?.[hashLabel] ?? '';
  assert.deepEqual(changesOf(plan), [`*${hash} 0→4`]);
  assert.equal(set?.metadata.name, `web-${hash}`);
  assert.deepEqual(set?.spec.selector, { matchLabels: { app: 'web', [hashLabel]: hash } });
  assert.deepEqual(set?.spec.template.metadata.labels, { app: 'web', [hashLabel]: hash });
  assert.deepEqual(set?.metadata.annotations, {
    'deployment.kubernetes.io/desired-replicas': '4',
    'deployment.kubernetes.io/max-replicas': '5',
    [revisionAnnotation]: '1',
  });
  assert.equal(plan.deployment?.metadata.annotations?.[revisionAnnotation], '1');
  assert.equal(progressOf(plan), `True NewReplicaSetCreated Created new replica set "web-${hash}"`);
});

test('planDeployment() takes one step of a rollout at a time', () => {
  const deployment = exampleDeployment({ image: 'app:2' });
  const old = (replicas: number) => exampleSet(deployment, { name: 'a', replicas });
  const fresh = (replicas: number, available = replicas) =>
    exampleSet(deployment, {
      name: 'b',
      image: 'app:2',
      replicas,
      revision: 2,
      minute: 1,
      status: { replicas, readyReplicas: available, availableReplicas: available },
    });
  const steps: readonly (readonly [ReplicaSet[], string[]])[] = [
    [[old(4), fresh(1, 0)], ['a 4→3']],
    [[old(3), fresh(1, 0)], ['b 1→2']],
    [[old(3), fresh(2, 1)], ['a 3→2']],
    [[old(2), fresh(2, 0)], ['b 2→3']],
    [[old(2), fresh(3, 1)], []],
    [[old(0), fresh(4)], []],
  ];
  for (const [sets, want] of steps) assert.deepEqual(changesOf(planOf(deployment, sets)), want);
});

test('planDeployment() scales down unhealthy pods first', () => {
  const deployment = exampleDeployment({ image: 'app:2' });
  const broken = exampleSet(deployment, {
    name: 'a',
    replicas: 3,
    status: { readyReplicas: 0, availableReplicas: 0 },
  });
  const works = exampleSet(deployment, { name: 'c', image: 'app:0', replicas: 2, minute: 1 });
  const fresh = exampleSet(deployment, {
    name: 'b',
    image: 'app:2',
    replicas: 0,
    minute: 2,
    revision: 2,
  });
  assert.deepEqual(changesOf(planOf(deployment, [broken, works, fresh])), ['a 3→1']);
});

test('planDeployment() reuses the old replica set on rollback', () => {
  const deployment = exampleDeployment();
  const first = exampleSet(deployment, { name: 'a', replicas: 0, revision: 1 });
  const second = exampleSet(deployment, {
    name: 'b',
    image: 'app:2',
    replicas: 4,
    revision: 2,
    minute: 1,
  });
  const plan = planOf(deployment, [first, second]);
  const [revised] = plan.changes;
  assert.equal(revised?.replicaSet.metadata.annotations?.[revisionAnnotation], '3');
  assert.equal(revised?.replicaSet.metadata.annotations?.[revisionHistoryAnnotation], '1');
  assert.deepEqual(changesOf(plan), ['a =→0', 'a 0→1']);
  assert.equal(plan.deployment?.metadata.annotations?.[revisionAnnotation], '3');
});

test('planDeployment() recreates after the last old pod has terminated', () => {
  const deployment = exampleDeployment({
    image: 'app:2',
    spec: { strategy: { type: 'Recreate' } },
  });
  const old = exampleSet(deployment, { name: 'a', replicas: 4 });
  assert.deepEqual(changesOf(planOf(deployment, [old])), ['a 4→0']);
  const empty = exampleSet(deployment, { name: 'a', replicas: 0 });
  const pod = examplePod({ metadata: { ownerReferences: [ownerReferenceTo(empty)] } });
  const waiting = planDeployment({ deployment, replicaSets: [empty], pods: [pod], now });
  assert.deepEqual(changesOf(waiting), []);
  const after = planOf(deployment, [empty]);
  assert.equal(after.changes[0]?.action, 'create');
  assert.equal(after.changes[0]?.scaledFrom, 0);
  assert.equal(sizeOf(after.changes[0]?.replicaSet as ReplicaSet), 4);
});

test('planDeployment() scales the only replica set in use, whatever its template', () => {
  const deployment = exampleDeployment({ spec: { replicas: 7, paused: true }, image: 'app:2' });
  const old = exampleSet(exampleDeployment(), { name: 'a', replicas: 4 });
  assert.deepEqual(changesOf(planOf(deployment, [old])), ['a 4→7']);
});

test('planDeployment() scales proportionally during a rollout', () => {
  const before = exampleDeployment({ spec: { replicas: 10 } });
  const sets = [
    exampleSet(before, { name: 'a', replicas: 8 }),
    exampleSet(before, { name: 'b', image: 'app:2', replicas: 5, revision: 2, minute: 1 }),
  ];
  const grown = exampleDeployment({ image: 'app:2', spec: { replicas: 20 } });
  assert.deepEqual(changesOf(planOf(grown, sets)), ['a 8→15', 'b 5→10']);
  const shrunk = exampleDeployment({ image: 'app:2', spec: { replicas: 4 } });
  assert.deepEqual(changesOf(planOf(shrunk, sets)), ['a 8→3', 'b 5→2']);
});

test('planDeployment() does not roll out while paused, and sets the condition', () => {
  const deployment = exampleDeployment({ image: 'app:2', spec: { paused: true } });
  const plan = planOf(deployment, [exampleSet(deployment, { name: 'a', replicas: 4 })]);
  assert.deepEqual(changesOf(plan), []);
  assert.equal(progressOf(plan), 'Unknown DeploymentPaused Deployment is paused');
  assert.equal(plan.retryAfterMs, undefined);
  const resumed = {
    ...(plan.deployment as Deployment),
    spec: { ...deployment.spec, paused: false },
  };
  assert.equal(
    progressOf(planOf(resumed, [exampleSet(deployment, { name: 'a', replicas: 4 })])).split(' ')[1],
    'NewReplicaSetCreated',
  );
});

test('planDeployment() keeps the revision history limit', () => {
  const status = { replicas: 4, updatedReplicas: 4, availableReplicas: 4, observedGeneration: 1 };
  const deployment = exampleDeployment({ spec: { revisionHistoryLimit: 1 }, status });
  const sets = [1, 2, 3].map((revision) =>
    exampleSet(deployment, {
      name: `o${revision}`,
      image: `x:${revision}`,
      replicas: 0,
      revision,
      minute: revision,
    }),
  );
  const current = exampleSet(deployment, { name: 'a', replicas: 4, revision: 4, minute: 9 });
  const plan = planOf(deployment, [...sets, current]);
  assert.deepEqual(
    plan.remove.map(({ metadata }) => metadata.name),
    ['web-o1', 'web-o2'],
  );
});

test('planDeployment() reports an exceeded deadline, and when to check it', () => {
  const time = '2026-01-01T23:50:01Z';
  const condition = {
    type: 'Progressing',
    status: 'True',
    reason: 'ReplicaSetUpdated',
    message: '',
    lastUpdateTime: time,
    lastTransitionTime: time,
  };
  const counts = {
    replicas: 4,
    updatedReplicas: 4,
    unavailableReplicas: 4,
    terminatingReplicas: 0,
    observedGeneration: 1,
  };
  const deployment = exampleDeployment({
    metadata: { annotations: { [revisionAnnotation]: '1' } },
    status: { ...counts, conditions: [condition] },
  });
  const stuck = exampleSet(deployment, {
    name: 'a',
    replicas: 4,
    status: { readyReplicas: 0, availableReplicas: 0 },
  });
  assert.equal(planOf(deployment, [stuck]).retryAfterMs, 2000);
  const late = planDeployment({ deployment, replicaSets: [stuck], pods: [], now: now + 2000 });
  assert.equal(
    progressOf(late),
    'False ProgressDeadlineExceeded ReplicaSet "web-a" has timed out progressing.',
  );
  assert.equal(late.retryAfterMs, undefined);
});

test('planDeployment() reports failures of its replica sets', () => {
  const failure = {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: null,
    reason: 'FailedCreate',
    message: 'quota',
  };
  const deployment = exampleDeployment();
  const set = exampleSet(deployment, { name: 'a', replicas: 4, status: { conditions: [failure] } });
  const { deployment: after } = planOf(deployment, [set]);
  assert.equal(after && conditionOf(after.status, 'ReplicaFailure')?.message, 'quota');
});

test('planDeployment() changes nothing when complete', () => {
  const deployment = exampleDeployment();
  const set = exampleSet(deployment, { name: 'a', replicas: 4 });
  const updated = planOf(deployment, [set]).deployment as Deployment;
  assert.equal(progressOf(planOf(deployment, [set])).split(' ')[1], 'NewReplicaSetAvailable');
  assert.deepEqual(planOf(updated, [set]), { changes: [], remove: [] });
});

test('planDeployment() only updates counts while the deployment is being deleted', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const plan = planOf(exampleDeployment({ metadata }), []);
  assert.deepEqual(plan.changes, []);
  assert.equal(
    plan.deployment && conditionOf(plan.deployment.status, 'Available')?.status,
    'False',
  );
});

test('withFailedCreate() and withCollision() are written to the status', () => {
  const deployment = exampleDeployment();
  const set = exampleSet(deployment, { name: 'a', replicas: 1 });
  const failed = withFailedCreate(deployment, set, 'no', now);
  assert.equal(failed.message, 'Failed to create new replica set "web-a": no');
  assert.equal(conditionOf(failed.deployment.status, 'Progressing')?.reason, 'FailedCreate');
  assert.equal(withCollision(withCollision(deployment)).status.collisionCount, 2);
});

/** Old pods terminate at once; one new pod becomes available in each sync. */
function passTime(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  let grown = false;
  return sets.map((set) => {
    const replicas = sizeOf(set);
    const before = Math.min(set.status.availableReplicas ?? 0, replicas);
    const grows = !grown && before < replicas;
    grown ||= grows;
    const available = before + (grows ? 1 : 0);
    return {
      ...set,
      status: { ...set.status, replicas, readyReplicas: available, availableReplicas: available },
    };
  });
}

const strategies: readonly (readonly [number, number | string, number | string])[] = [
  [4, '25%', '25%'],
  [1, 1, 0],
  [1, 0, 1],
  [10, 3, 0],
  [7, 0, '50%'],
  [3, '100%', 0],
];
for (const [replicas, surge, unavailable] of strategies) {
  test(`a rollout of ${replicas} replicas with maxSurge ${surge} and maxUnavailable ${unavailable} completes within its limits`, () => {
    const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
    const spec = { replicas, strategy: { type: 'RollingUpdate', rollingUpdate } };
    let deployment = exampleDeployment({ image: 'app:2', spec });
    let sets: readonly ReplicaSet[] = [exampleSet(deployment, { name: 'a', replicas })];
    for (let pass = 0; pass < 100; pass += 1) {
      const plan = planOf(deployment, sets);
      deployment = plan.deployment ?? deployment;
      for (const { action, replicaSet } of plan.changes) {
        const name = replicaSet.metadata.name;
        sets =
          action === 'create'
            ? [...sets, replicaSet]
            : sets.map((set) => (set.metadata.name === name ? replicaSet : set));
      }
      assert.ok(totalSize(sets) <= wantedOf(deployment) + maxSurge(deployment));
      const available = sets.reduce(
        (sum, set) => sum + Math.min(set.status.availableReplicas ?? 0, sizeOf(set)),
        0,
      );
      assert.ok(available >= wantedOf(deployment) - maxUnavailable(deployment));
      sets = passTime(sets);
    }
    assert.deepEqual(sets.map(sizeOf), [0, replicas]);
    assert.equal(conditionOf(deployment.status, 'Progressing')?.reason, 'NewReplicaSetAvailable');
  });
}
