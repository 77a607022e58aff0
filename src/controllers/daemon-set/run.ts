// Runs daemon sets: syncs each when it, its pods or revisions, or the labels or taints of a node change.
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { followOwned, type OwnedObjects } from '../../client/owned-objects.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { controllerRevisionDefinition } from '../../kinds/controller-revision/definition.ts';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import { daemonSetDefinition } from '../../kinds/daemon-set/definition.ts';
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import type { Node } from '../../kinds/node/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isEmptySelector } from '../../kinds/pod-template/selector.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { applyDaemonPlan } from './apply.ts';
import { applyExpiry, applyHistory } from './apply-history.ts';
import { planDaemonSet } from './desired.ts';
import { hashOf } from './history.ts';
import { createFailureBackOff, type FailureBackOff } from './run-back-off.ts';
import { desiredStatus, nextAvailableMs } from './status.ts';

/** A sync reads all pods of the set, so changes of a burst are batched. */
const podBatchMs = 20;
/** What follows own writes is decided soon after them: they cause no event. */
const nextStepMs = 20;

type Parts = ControllerParts & {
  readonly sets: Informer<DaemonSet>;
  readonly nodes: Informer<Node>;
  readonly pods: OwnedObjects<DaemonSet, Pod>;
  readonly revisions: OwnedObjects<DaemonSet, ControllerRevision>;
  readonly client: ResourceClient<DaemonSet>;
  readonly recorder: EventRecorder;
  readonly backOff: FailureBackOff;
};

export const daemonSetController: Controller = {
  name: 'daemonset-controller',
  shortName: 'daemonset',
  account: 'daemon-set-controller',
  watches: mayWatch(
    daemonSetDefinition,
    podDefinition,
    controllerRevisionDefinition,
    nodeDefinition,
  ),
  rights: [
    may('get', daemonSetDefinition),
    may('update', daemonSetDefinition, { subresource: 'status' }),
    mayOwn(daemonSetDefinition),
    may('create delete patch', podDefinition),
    may('create delete get patch update', controllerRevisionDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const { informers, clock, log, queueMetrics: metrics } = shared;
    const sets = informers.of(daemonSetDefinition);
    const pods = informers.of(podDefinition);
    const revisions = informers.of(controllerRevisionDefinition);
    const nodes = informers.of(nodeDefinition);
    if (!(await waitForSync([sets, pods, revisions, nodes], signal))) return;
    const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
      parts.pods.during(key, (recordPod) =>
        parts.revisions.during(key, (recordRevision) =>
          sync({ ...parts, recordPod, recordRevision }, key),
        ),
      );
    const { concurrentDaemonSetSyncs: concurrency } = shared.settings;
    const { queue, ended } = startReconciler(
      { name: 'daemonset', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const changed = (key: string): void => queue.addAfter(key, podBatchMs);
    const add = ({ metadata }: DaemonSet): void => queue.add(objectKey(metadata));
    const parts = createParts(shared, changed);
    const stops = [
      sets.onChange({ add, update: (_before, after) => add(after), delete: add }),
      followNodes(parts, changed),
      parts.pods.close,
      parts.revisions.close,
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts, changed: (key: string) => void): Parts {
  const { caller, informers, clock, log } = shared;
  const sets = informers.of(daemonSetDefinition);
  const isMember = ({ spec }: DaemonSet, { metadata }: KubeObject): boolean =>
    matchesSelector(selectorFromLabelSelector(spec.selector), metadata.labels);
  const owned = { caller, clock, ownerType: daemonSetDefinition, owners: sets, isMember, changed };
  return {
    ...shared,
    sets,
    nodes: informers.of(nodeDefinition),
    pods: followOwned<DaemonSet, Pod>({
      ...owned,
      type: podDefinition,
      informer: informers.of(podDefinition),
    }),
    revisions: followOwned<DaemonSet, ControllerRevision>({
      ...owned,
      type: controllerRevisionDefinition,
      informer: informers.of(controllerRevisionDefinition),
    }),
    client: resourceClient(caller, daemonSetDefinition),
    recorder: createEventRecorder({ caller, component: 'daemonset-controller', clock, log }),
    backOff: createFailureBackOff(clock),
  };
}

/** Heartbeats change nothing here: only names, labels and taints decide where daemons run. */
function followNodes({ sets, nodes }: Parts, changed: (key: string) => void): () => void {
  const all = (): void => {
    for (const key of sets.store.keys()) changed(key);
  };
  return nodes.onChange({
    add: all,
    delete: all,
    update(before, after) {
      const isSame =
        deepEqual(before.metadata.labels, after.metadata.labels) &&
        deepEqual(before.spec.taints, after.spec.taints);
      if (!isSame) all();
    },
  });
}

type SyncParts = Parts & {
  readonly recordPod: WriteRecorder<Pod>;
  readonly recordRevision: WriteRecorder<ControllerRevision>;
};

const selectsAll = {
  type: 'Warning',
  reason: 'SelectingAll',
  message: 'This daemon set is selecting all pods. A non-empty selector is required.',
} as const;

async function sync(parts: SyncParts, key: string): Promise<ReconcileResult | undefined> {
  const { sets, recorder } = parts;
  const set = sets.store.get(key);
  if (set === undefined) {
    parts.pods.forget(key);
    parts.revisions.forget(key);
    return undefined;
  }
  if (isEmptySelector(set.spec.selector)) {
    recorder.record(set, selectsAll);
    return undefined;
  }
  // Its pods are left to the garbage collector.
  return set.metadata.deletionTimestamp === undefined ? syncSet(parts, set) : undefined;
}

async function syncSet(parts: SyncParts, set: DaemonSet): Promise<ReconcileResult | undefined> {
  const { nodes, clock, caller, recorder, backOff, recordPod, recordRevision } = parts;
  const pods = await parts.pods.claim(set, recordPod);
  const historyTask = {
    set,
    sets: parts.client,
    pods: parts.pods.client,
    revisions: parts.revisions.client,
    recordPod,
    recordRevision,
  };
  const claimed = await parts.revisions.claim(set, recordRevision);
  const { current, history } = await applyHistory(historyTask, claimed, pods);
  const situation = {
    set,
    nodes: [...nodes.store.values()],
    hash: hashOf(current),
    now: clock.now(),
  };
  const backOffKey = (node: string): string => `${set.metadata.uid}/${node}`;
  const backOffOf = (node: string): number => backOff.remainingMs(backOffKey(node));
  const plan = planDaemonSet({ ...situation, pods, backOffOf });
  for (const { pod, node } of plan.ended)
    if (pod.status.phase === 'Failed') backOff.failed(backOffKey(node));
  const failure = await applyDaemonPlan(
    { caller, owner: set, recorder, writeRecorder: recordPod, hash: situation.hash },
    plan,
  );
  await applyExpiry(historyTask, history, pods);
  const after = parts.pods.of(set);
  await writeStatus(parts, set, desiredStatus({ ...situation, pods: after }));
  if (failure !== undefined) throw new Error(failure);
  const hasActed = plan.create.length + plan.delete.length > 0;
  return soonest([
    hasActed ? nextStepMs : undefined,
    plan.retryAfterMs,
    nextAvailableMs(set, after, situation.now),
  ]);
}

function soonest(waits: readonly (number | undefined)[]): ReconcileResult | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : { retryAfterMs: Math.min(...known) };
}

async function writeStatus(
  { client }: Parts,
  set: DaemonSet,
  status: DaemonSet['status'],
): Promise<void> {
  if (status === set.status) return;
  try {
    await client.update({ ...set, status }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
