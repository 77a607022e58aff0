// What a cluster becomes when its controllers, its scheduler and its nodes have done what the objects ask for. None of them runs: this
// calls the code by which they decide. What is settled already comes back as it is.
import { waitsForNode } from '../controllers/scheduler/desired.ts';
import { isPodReady } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import { bothSides, changedObjects, type ObjectChange } from './changed-objects.ts';
import { createNameMaker } from './made-names.ts';
import { byController, controlledBy, createObjectTable, type ObjectTable } from './object-table.ts';
import { createScheduling, podValues, waitsForStart } from './schedule-pods.ts';
import { settleServices } from './settle-services.ts';
import { sliceValues } from './settle-slices.ts';
import { settleDeployment, settleReplicaSet, type Workloads } from './settle-workloads.ts';
import { makeSnapshot, type Snapshot, type SnapshotObjects } from './snapshot.ts';

export type SettleOptions = {
  /** Milliseconds: when new objects are made. */
  readonly now: number;
  /** A state of the cluster that is taken for settled: only what differs from it, and what depends on that, is settled. */
  readonly since?: Snapshot;
  /** The nodes are made up, and take every pod. */
  readonly fitsAnywhere?: boolean;
};

/** More than most clusters have, and few enough to be scheduled one by one within seconds. */
export const maxNewPods = 10_000;

export class TooManyPodsError extends Error {
  constructor() {
    super(`more than ${maxNewPods} new pods are needed, which is too many to schedule`);
  }
}

/** Must not be called where pods could not be read: they would be made again. */
export function settle(snapshot: Snapshot, options: SettleOptions): Snapshot {
  const { objects } = snapshot;
  const since = options.since?.objects ?? makeSnapshot({}).objects;
  const tables = createTables(objects, since);
  removeOrphans(tables, objects, since);
  settleWorkloads(tables, { objects, since, options });
  const { deployments, replicaSets, pods, endpoints, slices, names } = tables;
  const settled = { ...objects, pods: pods.all() };
  settleServices({ now: options.now, names, endpoints, slices }, { objects: settled, since });
  return {
    ...snapshot,
    objects: {
      ...settled,
      deployments: deployments.all(),
      replicaSets: replicaSets.all(),
      endpoints: endpoints.all(),
      endpointSlices: slices.all(),
    },
  };
}

/** Only Endpoints and EndpointSlices of Services: pods and what makes them stay as they are. */
export function settleEndpointsOnly(
  snapshot: Snapshot,
  { now, since }: Pick<SettleOptions, 'now' | 'since'>,
): Snapshot {
  const { objects } = snapshot;
  const change = { objects, since: since?.objects ?? makeSnapshot({}).objects };
  const endpoints = createObjectTable(objects.endpoints, () => []);
  const slices = createObjectTable(objects.endpointSlices, sliceValues);
  const names = createNameMaker((_kind, key) => slices.get(key) !== undefined);
  settleServices({ now, names, endpoints, slices }, change);
  return {
    ...snapshot,
    objects: { ...objects, endpoints: endpoints.all(), endpointSlices: slices.all() },
  };
}

type Tables = ReturnType<typeof createTables>;

function createTables(objects: SnapshotObjects, since: SnapshotObjects) {
  const deployments = createObjectTable(objects.deployments, () => []);
  const replicaSets = createObjectTable(objects.replicaSets, byController);
  const pods = createObjectTable(objects.pods, podValues);
  const endpoints = createObjectTable(objects.endpoints, () => []);
  const slices = createObjectTable(objects.endpointSlices, sliceValues);
  const tablesOf: Readonly<Record<string, Pick<ObjectTable<KubeObject>, 'get'>>> = {
    ReplicaSet: replicaSets,
    Pod: pods,
    EndpointSlice: slices,
  };
  // A name that an object had is not given again.
  const earlier = new Set(since.pods.map(keyOf));
  const names = createNameMaker(
    (kind, key) => tablesOf[kind]?.get(key) !== undefined || (kind === 'Pod' && earlier.has(key)),
  );
  return { deployments, replicaSets, pods, endpoints, slices, names };
}

/** What the garbage collectors delete: objects whose owner was deleted, and pods of missing nodes. */
function removeOrphans(
  { replicaSets, pods }: Tables,
  objects: SnapshotObjects,
  since: SnapshotObjects,
): void {
  const deleted = (changes: readonly ObjectChange<KubeObject>[]): readonly string[] =>
    changes.flatMap(({ before, after }) =>
      after === undefined ? (before?.metadata.uid ?? []) : [],
    );
  const removeOwned = <T extends KubeObject>(table: ObjectTable<T>, uid: string): readonly T[] => {
    const owned = table.select(controlledBy(uid));
    for (const { metadata } of owned) table.remove(objectKey(metadata));
    return owned;
  };
  for (const uid of deleted(changedObjects(since.deployments, objects.deployments))) {
    removeOwned(replicaSets, uid);
  }
  for (const uid of deleted(changedObjects(since.replicaSets, replicaSets.all())))
    removeOwned(pods, uid);
  for (const { before, after } of changedObjects(since.nodes, objects.nodes)) {
    if (after !== undefined) continue;
    const lost = pods.all().filter(({ spec }) => spec.nodeName === before?.metadata.name);
    for (const { metadata } of lost) pods.remove(objectKey(metadata));
  }
}

type Change = {
  readonly objects: SnapshotObjects;
  readonly since: SnapshotObjects;
  readonly options: SettleOptions;
};

function settleWorkloads(tables: Tables, change: Change): void {
  const { objects, since, options } = change;
  const { replicaSets, deployments, pods, names } = tables;
  const { nodes, namespaces } = objects;
  const { now, fitsAnywhere = false } = options;
  const expectsReady = readinessSoFar((options.since ?? { objects }).objects.pods);
  const schedule = createScheduling({
    ...{ now, nodes, namespaces, pods, fitsAnywhere, expectsReady },
    earlier: since.pods,
  });
  let made = 0;
  const addPod = (pod: Pod): void => {
    made += 1;
    if (made > maxNewPods) throw new TooManyPodsError();
    pods.put(pod);
    schedule(pod);
  };
  const workloads: Workloads = { now, deployments, replicaSets, pods, names, addPod };
  scheduleWaiting(tables, since, schedule);
  const touched = touchedWorkloads(tables, since);
  if (missingPods(tables, touched) > maxNewPods) throw new TooManyPodsError();
  for (const key of touched.sets) settleReplicaSet(workloads, key);
  for (const key of touched.deployments) settleDeployment(workloads, key);
  // Pods that have gone may have made room.
  scheduleWaiting(tables, since, schedule);
}

/** Pods that had a node before are their node's concern: it knows why they have not started. */
function scheduleWaiting(
  { pods }: Tables,
  since: SnapshotObjects,
  schedule: (pod: Pod) => void,
): void {
  const had = new Set(since.pods.filter(waitsForStart).map(({ metadata }) => objectKey(metadata)));
  for (const pod of pods.all()) {
    if (waitsForNode(pod) || (waitsForStart(pod) && !had.has(objectKey(pod.metadata))))
      schedule(pod);
  }
}

type Touched = { readonly sets: ReadonlySet<string>; readonly deployments: ReadonlySet<string> };

/** Those that changed, and those whose pods or replica sets did. */
function touchedWorkloads(
  { replicaSets, deployments, pods }: Tables,
  since: SnapshotObjects,
): Touched {
  const changedPods = bothSides(changedObjects(since.pods, pods.all()));
  const owners = new Set(changedPods.map((pod) => controllerOf(pod)?.uid ?? ''));
  // Replica sets of their namespace may adopt these.
  const orphans = changedPods.filter((pod) => controllerOf(pod) === undefined);
  const namespaces = new Set(orphans.map(({ metadata }) => metadata.namespace));
  const changedSets = new Set(
    bothSides(changedObjects(since.replicaSets, replicaSets.all())).map(keyOf),
  );
  const sets = replicaSets
    .all()
    .filter(
      (set) =>
        changedSets.has(keyOf(set)) ||
        owners.has(set.metadata.uid ?? '') ||
        namespaces.has(set.metadata.namespace),
    );
  const ofSets = new Set(sets.map((set) => controllerOf(set)?.uid ?? ''));
  const changed = bothSides(changedObjects(since.deployments, deployments.all())).map(keyOf);
  const above = deployments.all().filter(({ metadata }) => ofSets.has(metadata.uid ?? ''));
  return {
    sets: new Set(sets.map(keyOf)),
    deployments: new Set([...changed, ...above.map(keyOf)]),
  };
}

/** At least as many are to be made. */
function missingPods({ deployments, replicaSets, pods }: Tables, touched: Touched): number {
  const podsOf = ({ metadata }: KubeObject): number =>
    pods.select(controlledBy(metadata.uid ?? '')).length;
  const ofDeployments = [...touched.deployments].map((key) => {
    const deployment = deployments.get(key);
    const sets = replicaSets.select(controlledBy(deployment?.metadata.uid ?? ''));
    const present = sets.reduce((total, set) => total + podsOf(set), 0);
    return (deployment?.spec.replicas ?? 0) - present;
  });
  const ofSets = [...touched.sets].map((key) => {
    const set = replicaSets.get(key);
    return set === undefined ? 0 : (set.spec.replicas ?? 1) - podsOf(set);
  });
  return [...ofDeployments, ...ofSets].reduce((total, count) => total + Math.max(0, count), 0);
}

const keyOf = ({ metadata }: KubeObject): string => objectKey(metadata);

/** False for pods of a controller whose started pods are all unready: one more would not be ready either. */
function readinessSoFar(pods: readonly Pod[]): (pod: Pod) => boolean {
  const byOwner = new Map<string, boolean>();
  for (const pod of pods) {
    const uid = controllerOf(pod)?.uid;
    const hasStarted = (pod.status.containerStatuses ?? []).length > 0;
    if (uid === undefined || !hasStarted || byOwner.get(uid) === true) continue;
    byOwner.set(uid, isPodReady(pod));
  }
  return (pod) => byOwner.get(controllerOf(pod)?.uid ?? '') ?? true;
}
