// Rolls deployments out: syncs each when it, one of its replica sets or one of its pods changes.

import { applyClaims } from '../../client/apply-claims.ts';
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import {
  createExpectations,
  type Expectations,
  type WriteRecorder,
} from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import {
  byController,
  byNamespace,
  controllerIndex,
  namespaceIndex,
  orphansIn,
} from '../../client/shared-indexes.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { deploymentDefinition } from '../../kinds/deployment/definition.ts';
import type { Deployment } from '../../kinds/deployment/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { replicaSetDefinition } from '../../kinds/replica-set/definition.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { claimObjects } from '../../meta/claim.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { applyPlan } from './apply.ts';
import { planDeployment } from './desired.ts';
import { isRolling } from './limits.ts';

type Parts = ControllerParts & {
  readonly deployments: Informer<Deployment>;
  readonly sets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  readonly client: ResourceClient<Deployment>;
  readonly setClient: ResourceClient<ReplicaSet>;
  readonly recorder: EventRecorder;
};

type Writes = {
  readonly own: Expectations<Deployment>;
  readonly ofSets: Expectations<ReplicaSet>;
};

export const deploymentController: Controller = {
  name: 'deployment-controller',
  shortName: 'deployment',
  account: 'deployment-controller',
  watches: mayWatch(deploymentDefinition, replicaSetDefinition, podDefinition),
  rights: [
    may('get', deploymentDefinition),
    may('update', deploymentDefinition, { subresource: 'status' }),
    mayOwn(deploymentDefinition),
    may('create delete get patch update', replicaSetDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const parts = createParts(shared);
    const { deployments, sets, pods, clock, log, queueMetrics: metrics } = parts;
    const { concurrentDeploymentSyncs: concurrency } = parts.settings;
    if (!(await waitForSync([deployments, sets, pods], signal))) return;
    const changedExternally = (key: string): void => queue.add(key);
    const writes: Writes = {
      own: createExpectations({
        clock,
        keyOf: ({ metadata }) => objectKey(metadata),
        changedExternally,
      }),
      ofSets: createExpectations({
        clock,
        keyOf: (set) => keyOfOwner(set, 'Deployment'),
        changedExternally,
      }),
    };
    const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
      writes.own.during(key, (writeRecorder) =>
        writes.ofSets.during(key, (setWriteRecorder) =>
          sync({ ...parts, writes, writeRecorder, setWriteRecorder }, key),
        ),
      );
    const { queue, ended } = startReconciler(
      { name: 'deployment', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const stops = [
      deployments.onChange(writes.own.handler),
      sets.onChange(writes.ofSets.handler),
      ...followOrphans(parts, (key) => queue.add(key)),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts): Parts {
  const { caller, informers, clock, log } = shared;
  const deployments = informers.of(deploymentDefinition);
  const sets = informers.of(replicaSetDefinition);
  const pods = informers.of(podDefinition);
  deployments.addIndex(namespaceIndex, byNamespace);
  sets.addIndex(controllerIndex, byController);
  pods.addIndex(controllerIndex, byController);
  return {
    ...shared,
    deployments,
    sets,
    pods,
    client: resourceClient(caller, deploymentDefinition),
    setClient: resourceClient(caller, replicaSetDefinition),
    recorder: createEventRecorder({ caller, component: 'deployment-controller', clock, log }),
  };
}

function keyOfOwner(object: KubeObject, kind: string): string | undefined {
  const controller = controllerOf(object);
  if (controller?.kind !== kind || !controller.apiVersion.startsWith('apps/')) return undefined;
  return objectKey({ namespace: object.metadata.namespace ?? '', name: controller.name });
}

/** A replica set without a controller may be adopted; with strategy Recreate the last old pod releases the new ones. */
function followOrphans(
  { deployments, sets, pods }: Parts,
  add: (key: string) => void,
): readonly (() => void)[] {
  const addThoseThatSelect = (set: ReplicaSet): void => {
    if (controllerOf(set) !== undefined) return;
    for (const { metadata, spec } of deployments.store.select(
      namespaceIndex,
      set.metadata.namespace ?? '',
    )) {
      const selector = selectorFromLabelSelector(spec.selector);
      if (matchesSelector(selector, set.metadata.labels)) add(objectKey(metadata));
    }
  };
  const podDeleted = (pod: Pod): void => {
    const set = sets.store.get(keyOfOwner(pod, 'ReplicaSet') ?? '');
    const key = set === undefined ? undefined : keyOfOwner(set, 'Deployment');
    const deployment = key === undefined ? undefined : deployments.store.get(key);
    if (key !== undefined && deployment !== undefined && !isRolling(deployment)) add(key);
  };
  return [
    sets.onChange({
      add: addThoseThatSelect,
      update: (before, after) => {
        const isReleased =
          controllerOf(before)?.uid !== controllerOf(after)?.uid ||
          !deepEqual(before.metadata.labels, after.metadata.labels);
        if (isReleased) addThoseThatSelect(after);
      },
    }),
    pods.onChange({ delete: podDeleted }),
  ];
}

type SyncParts = Parts & {
  readonly writes: Writes;
  readonly writeRecorder: WriteRecorder<Deployment>;
  readonly setWriteRecorder: WriteRecorder<ReplicaSet>;
};

async function sync(parts: SyncParts, key: string): Promise<ReconcileResult | undefined> {
  const { deployments, pods, writes, clock } = parts;
  const cached = deployments.store.get(key);
  const deployment = cached === undefined ? undefined : writes.own.over(key, [cached])[0];
  if (deployment === undefined) {
    writes.own.forget(key);
    writes.ofSets.forget(key);
    return undefined;
  }
  const replicaSets = await claimSets(parts, deployment);
  const now = clock.now();
  const plan = planDeployment({
    deployment,
    replicaSets,
    pods: isRolling(deployment)
      ? []
      : replicaSets.flatMap(({ metadata }) =>
          pods.store.select(controllerIndex, metadata.uid ?? ''),
        ),
    now,
  });
  const { client, setClient, recorder, writeRecorder, setWriteRecorder } = parts;
  const isDone = await applyPlan(
    {
      deployment,
      deployments: client,
      replicaSets: setClient,
      recorder,
      writeRecorder,
      setWriteRecorder,
      now,
    },
    plan,
  );
  // Own writes cause no event; the next step may be due at once.
  if (plan.changes.length > 0) return isDone ? { again: true } : undefined;
  return plan.retryAfterMs === undefined ? undefined : { retryAfterMs: plan.retryAfterMs };
}

async function claimSets(
  { sets, client, setClient, writes, setWriteRecorder }: SyncParts,
  deployment: Deployment,
): Promise<readonly ReplicaSet[]> {
  const { name = '', namespace = '', uid = '' } = deployment.metadata;
  const candidates = [
    ...sets.store.select(controllerIndex, uid),
    ...sets.store.select(controllerIndex, orphansIn(namespace)),
  ];
  const known = writes.ofSets.over(objectKey(deployment.metadata), candidates);
  const selector = selectorFromLabelSelector(deployment.spec.selector);
  return applyClaims(claimObjects(deployment, selector, known), {
    client: setClient,
    owner: deployment,
    readOwner: () => client.get({ namespace, name }),
    wrote: setWriteRecorder.wrote,
  });
}
