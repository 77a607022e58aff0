// Deployments to replica sets to pods, as their controllers would have made them in the end: each round plans by the controllers' own
// code, and the pods that it makes get nodes and start before the next.

import { planDeployment } from '../controllers/deployment/desired.ts';
import { isRolling } from '../controllers/deployment/limits.ts';
import { planReplicas } from '../controllers/replica-set/desired.ts';
import { desiredStatus } from '../controllers/replica-set/status.ts';
import type { Deployment } from '../kinds/deployment/types.ts';
import { isActive, isTerminating } from '../kinds/pod/activity.ts';
import { podDefinition } from '../kinds/pod/definition.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { podFromTemplate } from '../kinds/pod-template/pod-from-template.ts';
import { replicaSetDefinition } from '../kinds/replica-set/definition.ts';
import type { ReplicaSet } from '../kinds/replica-set/types.ts';
import { claimObjects } from '../meta/claim.ts';
import { type Selector, selectorFromLabelSelector } from '../meta/labels.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { controllerOf, ownerReferenceTo } from '../meta/owner.ts';
import { formatTime } from '../schema/time.ts';
import { identified, type NameMaker } from './made-names.ts';
import { controlledBy, type ObjectTable, orphansIn } from './object-table.ts';

export type Workloads = {
  readonly now: number;
  readonly deployments: ObjectTable<Deployment>;
  readonly replicaSets: ObjectTable<ReplicaSet>;
  readonly pods: ObjectTable<Pod>;
  readonly names: NameMaker;
  /** Adds a pod that its controller makes, gives it a node and lets it run. */
  readonly addPod: (pod: Pod) => void;
};

/** Long after `now`: minReadySeconds have passed. */
const muchLaterMs = 24 * 3600_000;
/** Rollouts that go on longer than this many rounds go round in circles. */
const maxRounds = 50_000;

/** The sets must be settled first. */
export function settleDeployment(workloads: Workloads, key: string): void {
  for (let round = 0; round < maxRounds; round += 1) {
    const deployment = workloads.deployments.get(key);
    if (deployment === undefined || !takeStep(workloads, deployment)) return;
  }
}

/** False when no step remains. */
function takeStep(workloads: Workloads, before: Deployment): boolean {
  const sets = claim(workloads.replicaSets, before, selectorOf(before));
  const { changes, remove, deployment } = planDeployment({
    deployment: before,
    replicaSets: sets,
    pods: isRolling(before) ? [] : sets.flatMap((set) => podsOf(workloads, set)),
    now: workloads.now,
  });
  if (deployment !== undefined) workloads.deployments.put(deployment);
  for (const { metadata } of remove) workloads.replicaSets.remove(objectKey(metadata));
  for (const { action, replicaSet } of changes) {
    const after = action === 'create' ? createSet(workloads, replicaSet) : replicaSet;
    workloads.replicaSets.put(after);
  }
  const changed = new Set(changes.map(({ replicaSet }) => objectKey(replicaSet.metadata)));
  for (const key of changed) settleReplicaSet(workloads, key);
  return changed.size > 0 || remove.length > 0;
}

const podsOf = ({ pods }: Workloads, { metadata }: ReplicaSet): readonly Pod[] =>
  pods.select(controlledBy(metadata.uid ?? ''));

function createSet({ names, now }: Workloads, set: ReplicaSet): ReplicaSet {
  const made = identified(names, set, now);
  const defaulted = replicaSetDefinition.defaults?.(made) ?? made;
  return (
    replicaSetDefinition.create.prepareCreate?.(defaulted, { now: formatTime(now) }) ?? defaulted
  );
}

export function settleReplicaSet(workloads: Workloads, key: string): void {
  const { replicaSets, pods, now, addPod } = workloads;
  for (;;) {
    const owner = replicaSets.get(key);
    if (owner === undefined) return;
    const active = claim(pods, owner, selectorOf(owner), isActive);
    const plan = planReplicas({ owner, pods: active, related: relatedTo(workloads, owner), now });
    for (const { metadata } of plan.delete) pods.remove(objectKey(metadata));
    if (plan.create === 0 && plan.delete.length === 0) break;
    for (let made = 0; made < plan.create; made += 1) addPod(createPod(workloads, owner));
  }
  updateStatus(workloads, key);
}

function createPod({ names, now }: Workloads, owner: ReplicaSet): Pod {
  return createdPod(names, podFromTemplate(owner, owner.spec.template), now);
}

/** As the API server would store it. */
export function createdPod(names: NameMaker, pod: Pod, now: number): Pod {
  const made = identified(names, pod, now);
  const defaulted = podDefinition.defaults?.(made) ?? made;
  return podDefinition.create.prepareCreate?.(defaulted, { now: formatTime(now) }) ?? defaulted;
}

function updateStatus(workloads: Workloads, key: string): void {
  const { replicaSets, now } = workloads;
  const owner = replicaSets.get(key);
  if (owner === undefined) return;
  const owned = podsOf(workloads, owner);
  const status = desiredStatus({
    owner,
    pods: owned.filter(isActive),
    terminating: owned.filter(isTerminating),
    now: now + muchLaterMs,
  });
  if (status !== owner.status) replicaSets.put({ ...owner, status });
}

const selectorOf = ({ spec }: Deployment | ReplicaSet): Selector =>
  selectorFromLabelSelector(spec.selector);

/** What the owner controls, after adoptions and releases. */
function claim<T extends KubeObject>(
  objects: ObjectTable<T>,
  owner: KubeObject,
  selector: Selector,
  counts: (object: T) => boolean = () => true,
): readonly T[] {
  const { uid = '', namespace = '' } = owner.metadata;
  const candidates = [
    ...objects.select(controlledBy(uid)),
    ...objects.select(orphansIn(namespace)),
  ].filter(counts);
  const { owned, adopt, release } = claimObjects(owner, selector, candidates);
  for (const object of release) objects.put(withoutOwner(object, uid));
  const adopted = adopt.map((object) => withOwner(object, owner));
  for (const object of adopted) objects.put(object);
  return [...owned, ...adopted];
}

function withOwner<T extends KubeObject>(object: T, owner: KubeObject): T {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), ownerReferenceTo(owner)];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function withoutOwner<T extends KubeObject>(object: T, uid: string): T {
  const ownerReferences = object.metadata.ownerReferences?.filter((one) => one.uid !== uid) ?? [];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** Active pods of all sets of the same deployment. */
function relatedTo(workloads: Workloads, owner: ReplicaSet): readonly Pod[] {
  const controller = controllerOf(owner)?.uid;
  const peers =
    controller === undefined ? [owner] : workloads.replicaSets.select(controlledBy(controller));
  return peers.flatMap((peer) => podsOf(workloads, peer)).filter(isActive);
}
