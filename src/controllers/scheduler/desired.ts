// Selects the node of a pod. Upstream: kube-scheduler's default plugins, without preemption and devices.
import { isNodeReady } from '../../kinds/node/readiness.ts';
import {
  countAvoidedTaints,
  hasUntoleratedTaint,
  isUnschedulable,
  matchesNodeAffinity,
  nodePreference,
} from '../../kinds/pod/node-selection.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { controllerOf } from '../../meta/owner.ts';
import type { Cluster, NodeState } from './cluster.ts';
import { affinityPreference, affinityProblem, spreadProblem } from './pod-affinity.ts';
import { freeShare, hasPortConflict, shortages } from './resources.ts';
import { claimProblem, isBinding, volumeProblem } from './volumes.ts';

export const schedulerName = 'default-scheduler';

export type Placement =
  | { readonly node: string }
  /** For the event: how many nodes there are, and what each lacks. */
  | { readonly message: string }
  /** No node has become ready yet, or a claim is just being bound: no event and no condition. */
  | { readonly isPremature: true };

export function waitsForNode({ spec, metadata, status }: Pod): boolean {
  return (
    !spec.nodeName &&
    spec.schedulerName === schedulerName &&
    (spec.schedulingGates ?? []).length === 0 &&
    metadata.deletionTimestamp === undefined &&
    !isPodFinished({ status })
  );
}

/** A cluster without a single ready node is an API server on its own, for example in a test. */
export function selectNode(pod: Pod, cluster: Cluster): Placement {
  if (!cluster.nodes.some(({ node }) => isNodeReady(node))) return { isPremature: true };
  if (cluster.volumes && isBinding(pod, cluster.volumes)) return { isPremature: true };
  const unready = cluster.volumes && claimProblem(pod, cluster.volumes);
  if (unready !== undefined)
    return { message: `0/${cluster.nodes.length} nodes are available: ${unready}.` };
  const problems = new Map<string, number>();
  const feasible: NodeState[] = [];
  for (const candidate of cluster.nodes) {
    const found = problemsOf(pod, candidate, cluster);
    if (found.length === 0) feasible.push(candidate);
    for (const problem of found) problems.set(problem, (problems.get(problem) ?? 0) + 1);
  }
  const best = selectBest(pod, feasible, cluster);
  if (best !== undefined) return { node: best.node.metadata.name ?? '' };
  return { message: describe(cluster.nodes.length, problems) };
}

/** The first filter that fails; only for resources all that are insufficient. */
function problemsOf(pod: Pod, candidate: NodeState, cluster: Cluster): readonly string[] {
  const { node, pods } = candidate;
  if (isUnschedulable(pod, node)) return ['node(s) were unschedulable'];
  if (hasUntoleratedTaint(pod, node)) return ['node(s) had untolerated taint(s)'];
  if (!isNodeReady(node)) return ['node(s) were not ready'];
  if (!matchesNodeAffinity(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (hasPortConflict(pod, pods))
    return ["node(s) didn't have free ports for the requested pod ports"];
  const short = shortages(pod, candidate);
  if (short.length > 0) return short;
  const storage = cluster.volumes && volumeProblem(pod, node, cluster.volumes);
  if (storage !== undefined) return [storage];
  const problem =
    spreadProblem(pod, candidate, cluster) ?? affinityProblem(pod, candidate, cluster);
  return problem === undefined ? [] : [problem];
}

function describe(nodes: number, problems: ReadonlyMap<string, number>): string {
  const texts = [...problems].map(([problem, count]) => `${count} ${problem}`).sort();
  return `0/${nodes} nodes are available: ${texts.join(', ')}.`;
}

type Score = (pod: Pod, candidate: NodeState, cluster: Cluster) => number;

/** Normalized to 0..100 over the feasible nodes, then weighted, after upstream's defaults. */
const scores: readonly { readonly weight: number; readonly score: Score }[] = [
  { weight: 3, score: (pod, { node }) => -countAvoidedTaints(pod, node) },
  { weight: 2, score: (pod, { node }) => nodePreference(pod, node) },
  { weight: 2, score: affinityPreference },
  // Spreads the replicas of one owner, so that losing a node loses few of them.
  { weight: 2, score: (pod, { pods }) => -countPeers(pod, pods) },
  { weight: 1, score: freeShare },
];

/** By list of pods: a node is looked at for many pods before its own change. */
const knownPeers = new WeakMap<readonly Pod[], ReadonlyMap<string, number>>();

function peersByOwner(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const known = knownPeers.get(pods);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod)?.uid;
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  knownPeers.set(pods, counts);
  return counts;
}

function countPeers(pod: Pod, others: readonly Pod[]): number {
  const owner = controllerOf(pod)?.uid;
  return owner === undefined ? 0 : (peersByOwner(others).get(owner) ?? 0);
}

/** Ties go to the node with fewer pods, then to the first name, so that results are deterministic. */
function selectBest(
  pod: Pod,
  candidates: readonly NodeState[],
  cluster: Cluster,
): NodeState | undefined {
  const totals = candidates.map(() => 0);
  for (const { weight, score } of scores) {
    const values = candidates.map((candidate) => score(pod, candidate, cluster));
    const lowest = Math.min(...values);
    const span = Math.max(...values) - lowest;
    for (const [index, value] of values.entries()) {
      totals[index] =
        (totals[index] ?? 0) + (span === 0 ? 0 : (weight * 100 * (value - lowest)) / span);
    }
  }
  const ranked = candidates
    .map((candidate, index) => ({ candidate, total: totals[index] ?? 0 }))
    .sort(
      (a, b) =>
        b.total - a.total ||
        a.candidate.pods.length - b.candidate.pods.length ||
        ((a.candidate.node.metadata.name ?? '') < (b.candidate.node.metadata.name ?? '') ? -1 : 1),
    );
  return ranked[0]?.candidate;
}
