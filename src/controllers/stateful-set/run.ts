// Runs stateful sets: syncs each when it, one of its pods or revisions changes, or when a claim has gone.
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { followOwned, type OwnedObjects } from '../../client/owned-objects.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { namespaceIndex } from '../../client/shared-indexes.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { controllerRevisionDefinition } from '../../kinds/controller-revision/definition.ts';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { statefulSetDefinition } from '../../kinds/stateful-set/definition.ts';
import { memberOf } from '../../kinds/stateful-set/members.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { applyStatefulPlan } from './apply.ts';
import { applyExpiry, applyHistory, type Revisions } from './apply-history.ts';
import { planStatefulSet, type StatefulPlan } from './desired.ts';
import { versionOf } from './history.ts';
import { desiredStatus, nextAvailableMs } from './status.ts';

/** A sync reads all pods of the set, so changes of a burst are batched. */
const podBatchMs = 20;
/** What follows own writes is decided soon after them: they cause no event. */
const nextStepMs = 20;
/** A claim of a former pod goes when the garbage collector has seen that the pod has gone. */
const staleClaimMs = 1000;

type Parts = ControllerParts & {
  readonly sets: Informer<StatefulSet>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly pods: OwnedObjects<StatefulSet, Pod>;
  readonly revisions: OwnedObjects<StatefulSet, ControllerRevision>;
  readonly client: ResourceClient<StatefulSet>;
  readonly recorder: EventRecorder;
};

export const statefulSetController: Controller = {
  name: 'statefulset-controller',
  shortName: 'statefulset',
  account: 'statefulset-controller',
  watches: mayWatch(
    statefulSetDefinition,
    podDefinition,
    controllerRevisionDefinition,
    persistentVolumeClaimDefinition,
  ),
  rights: [
    may('get', statefulSetDefinition),
    may('update', statefulSetDefinition, { subresource: 'status' }),
    mayOwn(statefulSetDefinition),
    may('create delete patch update', podDefinition),
    may('create delete get patch update', controllerRevisionDefinition),
    may('create update', persistentVolumeClaimDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const { informers, clock, log, queueMetrics: metrics } = shared;
    const sets = informers.of(statefulSetDefinition);
    const claims = informers.of(persistentVolumeClaimDefinition);
    const owned = [informers.of(podDefinition), informers.of(controllerRevisionDefinition)];
    if (!(await waitForSync([sets, claims, ...owned], signal))) return;
    const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
      parts.pods.during(key, (recordPod) =>
        parts.revisions.during(key, (recordRevision) =>
          sync({ ...parts, recordPod, recordRevision }, key),
        ),
      );
    const { concurrentStatefulSetSyncs: concurrency } = shared.settings;
    const { queue, ended } = startReconciler(
      { name: 'statefulset', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const changed = (key: string): void => queue.addAfter(key, podBatchMs);
    const add = ({ metadata }: StatefulSet): void => queue.add(objectKey(metadata));
    const parts = createParts(shared, changed);
    const claimDeleted = ({ metadata }: PersistentVolumeClaim): void => {
      for (const set of sets.store.select(namespaceIndex, metadata.namespace ?? ''))
        if (set.spec.volumeClaimTemplates !== undefined) changed(objectKey(set.metadata));
    };
    const stops = [
      sets.onChange({ add, update: (_before, after) => add(after), delete: add }),
      claims.onChange({ delete: claimDeleted }),
      parts.pods.close,
      parts.revisions.close,
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts, changed: (key: string) => void): Parts {
  const { caller, informers, clock, log } = shared;
  const sets = informers.of(statefulSetDefinition);
  const isSelected = ({ spec }: StatefulSet, { metadata }: KubeObject): boolean =>
    matchesSelector(selectorFromLabelSelector(spec.selector), metadata.labels);
  const owned = { caller, clock, ownerType: statefulSetDefinition, owners: sets, changed };
  return {
    ...shared,
    sets,
    claims: informers.of(persistentVolumeClaimDefinition),
    pods: followOwned<StatefulSet, Pod>({
      ...owned,
      type: podDefinition,
      informer: informers.of(podDefinition),
      isMember: (set, pod) => isSelected(set, pod) && memberOf(pod)?.set === set.metadata.name,
    }),
    revisions: followOwned<StatefulSet, ControllerRevision>({
      ...owned,
      type: controllerRevisionDefinition,
      informer: informers.of(controllerRevisionDefinition),
      isMember: isSelected,
    }),
    client: resourceClient(caller, statefulSetDefinition),
    recorder: createEventRecorder({ caller, component: 'statefulset-controller', clock, log }),
  };
}

type SyncParts = Parts & {
  readonly recordPod: WriteRecorder<Pod>;
  readonly recordRevision: WriteRecorder<ControllerRevision>;
};

async function sync(parts: SyncParts, key: string): Promise<ReconcileResult | undefined> {
  const set = parts.sets.store.get(key);
  if (set === undefined) {
    parts.pods.forget(key);
    parts.revisions.forget(key);
    return undefined;
  }
  // Its pods are left to the garbage collector; the status goes on telling how many there are.
  return set.metadata.deletionTimestamp === undefined
    ? syncSet(parts, set)
    : syncDeleted(parts, set);
}

async function syncDeleted(parts: SyncParts, set: StatefulSet): Promise<undefined> {
  const { currentRevision, updateRevision, collisionCount = 0 } = set.status;
  if (currentRevision === undefined || updateRevision === undefined) return;
  const [pods, now] = [parts.pods.of(set), parts.clock.now()];
  const known = { currentRevision, updateRevision, collisionCount };
  await writeStatus(parts, set, desiredStatus({ set, pods, ...known, now }));
}

async function syncSet(parts: SyncParts, set: StatefulSet): Promise<ReconcileResult | undefined> {
  const { recordPod, recordRevision } = parts;
  const claimed = await parts.revisions.claim(set, recordRevision);
  const pods = await parts.pods.claim(set, recordPod);
  const task = { set, revisions: parts.revisions.client, recordRevision };
  const revisions = await applyHistory(task, claimed);
  const { plan, failure } = await applyPods(parts, { set, pods, revisions });
  const after = parts.pods.of(set);
  const now = parts.clock.now();
  const status = desiredStatus({
    set,
    pods: after,
    currentRevision: revisions.current.metadata.name ?? '',
    updateRevision: revisions.update.metadata.name ?? '',
    collisionCount: revisions.collisionCount,
    now,
  });
  await writeStatus(parts, set, status);
  await applyExpiry(task, claimed, { ...revisions, pods: after });
  if (failure !== undefined) throw failure;
  const hasActed = plan.phases.some((actions) => actions.length > 0);
  const waits = [
    hasActed ? nextStepMs : undefined,
    plan.isWaitingForClaims ? staleClaimMs : undefined,
    nextAvailableMs(set, after, now),
  ].filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : { retryAfterMs: Math.min(...waits) };
}

async function applyPods(
  parts: SyncParts,
  known: {
    readonly set: StatefulSet;
    readonly pods: readonly Pod[];
    readonly revisions: Revisions;
  },
): Promise<{ readonly plan: StatefulPlan; readonly failure: unknown }> {
  const { caller, recorder, recordPod, clock, claims } = parts;
  const { set, pods, revisions } = known;
  const update = {
    revision: revisions.update.metadata.name ?? '',
    template: set.spec.template,
  };
  const current =
    revisions.current === revisions.update ? update : (versionOf(revisions.current) ?? update);
  const { namespace = '' } = set.metadata;
  const claimNamed = (name: string): PersistentVolumeClaim | undefined =>
    claims.store.get(objectKey({ namespace, name }));
  const plan = planStatefulSet({ set, pods, current, update, claimNamed, now: clock.now() });
  const failure = await applyStatefulPlan(
    {
      caller,
      set,
      pods: parts.pods.client,
      claims: resourceClient(caller, persistentVolumeClaimDefinition),
      claimNamed,
      recordPod,
      recorder,
    },
    plan,
  );
  return { plan, failure };
}

async function writeStatus(
  { client }: Parts,
  set: StatefulSet,
  status: StatefulSet['status'],
): Promise<void> {
  if (status === set.status) return;
  try {
    await client.update({ ...set, status }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
