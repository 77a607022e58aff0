// Deletes objects whose owners are all gone, and carries out foreground and orphan deletions.

import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { everything, may } from '../../kinds/rbac/rights.ts';
import { foregroundFinalizer, orphanFinalizer } from '../../meta/finalizers.ts';
import type { OwnerReference } from '../../meta/object.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { applyDecision, readLive, readOwnerState, releaseFrom, removeFinalizer } from './apply.ts';
import { decideDeletion, decideDependent, knownState, type OwnerState } from './desired.ts';
import {
  type GraphNode,
  hasFinalizer,
  isBeingDeleted,
  ownersOf,
  waitsForDependents,
} from './graph.ts';
import { type GraphFeed, startGraph } from './run-graph.ts';

/** The kind of an owner may be installed later. */
const unknownOwnerMs = 30_000;

export const garbageCollector: Controller = {
  name: 'garbage-collector-controller',
  shortName: 'garbagecollector',
  account: 'generic-garbage-collector',
  // It has informers of its own.
  watches: [],
  rights: [may('delete get list patch watch', everything)],
  async run(parts, signal) {
    // Changes before the graph is complete are kept for later.
    const pending = new Set<string>();
    let collect: Collect = (uid) => void pending.add(uid);
    const feed = startGraph(
      parts,
      (before, after) => enqueueAffected(feed, collect, before, after),
      signal,
    );
    await feed.ready;
    const { clock, log, queueMetrics: metrics } = parts;
    const { concurrentGarbageCollectorSyncs: concurrency } = parts.settings;
    const name = 'garbage_collector_attempt_to_delete';
    const reconcile = (uid: string): Promise<ReconcileResult | undefined> =>
      collectOne({ ...parts, feed, collect }, uid);
    const { queue, ended } = startReconciler(
      { name, reconcile, clock, log, metrics, concurrency },
      signal,
    );
    collect = queue.add;
    for (const uid of pending) queue.add(uid);
    await Promise.all([ended, feed.ended]);
  },
};

type Collect = (uid: string) => void;

/** The objects to check after a change. */
function enqueueAffected(
  { graph }: GraphFeed,
  collect: Collect,
  before: GraphNode | undefined,
  after: GraphNode | undefined,
): void {
  const node = after ?? before;
  if (node === undefined) return;
  if (after === undefined) for (const { uid } of graph.dependentsOf(node.uid)) collect(uid);
  else if (ownersOf(after).length > 0 || hasDeletionFinalizer(after)) collect(after.uid);
  for (const { uid } of [
    ...(before === undefined ? [] : ownersOf(before)),
    ...(after === undefined ? [] : ownersOf(after)),
  ]) {
    const owner = graph.get(uid);
    if (owner !== undefined && waitsForDependents(owner.object)) collect(uid);
  }
}

function hasDeletionFinalizer({ object }: GraphNode): boolean {
  const isOurs = hasFinalizer(object, orphanFinalizer) || hasFinalizer(object, foregroundFinalizer);
  return isBeingDeleted(object) && isOurs;
}

type Collector = ControllerParts & { readonly feed: GraphFeed; readonly collect: Collect };

async function collectOne(collector: Collector, uid: string): Promise<ReconcileResult | undefined> {
  const { graph } = collector.feed;
  const node = graph.get(uid);
  if (node === undefined) return;
  if (isBeingDeleted(node.object)) return collectDeleted(collector, node);
  return collectDependent(collector, node);
}

async function collectDeleted(
  { caller, feed, collect }: Collector,
  node: GraphNode,
): Promise<undefined> {
  const decision = decideDeletion(node, feed.graph.dependentsOf(node.uid));
  switch (decision.action) {
    case 'none':
      return;
    case 'finish':
      return void (await removeFinalizer(caller, node, foregroundFinalizer));
    case 'cascade':
      for (const { uid } of decision.dependents) collect(uid);
      return;
    case 'orphan':
      for (const dependent of decision.dependents) await releaseFrom(caller, dependent, node.uid);
      await removeFinalizer(caller, node, orphanFinalizer);
      return;
  }
}

async function collectDependent(
  collector: Collector,
  node: GraphNode,
): Promise<ReconcileResult | undefined> {
  const { caller, feed, log } = collector;
  const known = (owner: OwnerReference): OwnerState | undefined =>
    knownState(node, owner, feed.graph.get(owner.uid));
  // The common case: all owners are in the graph, no request is needed.
  if (ownersOf(node).every((owner) => known(owner) === 'present')) return;
  const live = await readLive(caller, node);
  if (live === undefined) return;
  const states = new Map<string, OwnerState>();
  for (const owner of live.metadata.ownerReferences ?? []) {
    const state = known(owner) ?? (await readOwnerState(caller, feed.resources(), node, owner));
    if (state === 'unknown') return { retryAfterMs: unknownOwnerMs };
    states.set(owner.uid, state);
  }
  const decision = decideDependent(
    live,
    ({ uid }) => states.get(uid) ?? 'present',
    feed.graph.dependentsOf(node.uid),
  );
  if (decision.action === 'none') return;
  const { namespace = '', name } = live.metadata;
  log.debug('Collecting object', {
    kind: live.kind,
    object: `${namespace}/${name}`,
    action: decision.action,
  });
  await applyDecision(caller, node, live, decision);
  return undefined;
}
