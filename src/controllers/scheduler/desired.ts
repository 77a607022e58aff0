// Which node a pod gets, or why it gets none. Upstream: kube-scheduler's default plugins, without preemption, volumes
// and devices.
import { isNodeReady } from '../../kinds/node/readiness.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { controllerOf } from '../../meta/owner.ts';
import type { Cluster, NodeState } from './cluster.ts';
import { hasPortConflict } from './host-ports.ts';
import {
  countAvoidedTaints,
  hasUntoleratedTaint,
  isClosed,
  isWantedNode,
  preference,
} from './node-selection.ts';
import { affinityPreference, affinityProblem, spreadProblem } from './pod-affinity.ts';
import { freeShare, shortages } from './resources.ts';

export const schedulerName = 'default-scheduler';

export type Placement =
  | { readonly node: string }
  /** For people: how many nodes there are and what each lacks. */
  | { readonly message: string }
  /** No node works yet; there is nothing to say of the pod. */
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

/** Without a single working node this is no cluster to run pods in but an API server on its own. */
export function placePod(pod: Pod, cluster: Cluster): Placement {
  if (!cluster.nodes.some(({ node }) => isNodeReady(node))) return { isPremature: true };
  const problems = new Map<string, number>();
  const fitting: NodeState[] = [];
  for (const place of cluster.nodes) {
    const found = problemsOf(pod, place, cluster);
    if (found.length === 0) fitting.push(place);
    for (const problem of found) problems.set(problem, (problems.get(problem) ?? 0) + 1);
  }
  const best = bestOf(pod, fitting, cluster);
  if (best !== undefined) return { node: best.node.metadata.name ?? '' };
  return { message: describe(cluster.nodes.length, problems) };
}

/** The first thing that is wrong; only of resources all that are short are told. */
function problemsOf(pod: Pod, place: NodeState, cluster: Cluster): readonly string[] {
  const { node, pods } = place;
  if (isClosed(pod, node)) return ['node(s) were unschedulable'];
  if (hasUntoleratedTaint(pod, node)) return ['node(s) had untolerated taint(s)'];
  if (!isNodeReady(node)) return ['node(s) were not ready'];
  if (!isWantedNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (hasPortConflict(pod, pods))
    return ["node(s) didn't have free ports for the requested pod ports"];
  const short = shortages(pod, place);
  if (short.length > 0) return short;
  const problem = spreadProblem(pod, place, cluster) ?? affinityProblem(pod, place, cluster);
  return problem === undefined ? [] : [problem];
}

function describe(nodes: number, problems: ReadonlyMap<string, number>): string {
  const texts = [...problems].map(([problem, count]) => `${count} ${problem}`).sort();
  return `0/${nodes} nodes are available: ${texts.join(', ')}.`;
}

type Score = (pod: Pod, place: NodeState, cluster: Cluster) => number;

/** Each is brought to 0..100 over the nodes that fit, and counts with its weight, after upstream's defaults. */
const scores: readonly { readonly weight: number; readonly score: Score }[] = [
  { weight: 3, score: (pod, { node }) => -countAvoidedTaints(pod, node) },
  { weight: 2, score: (pod, { node }) => preference(pod, node) },
  { weight: 2, score: affinityPreference },
  // Replicas of one owner apart, so that losing a node loses few of them.
  { weight: 2, score: (pod, { pods }) => -countPeers(pod, pods) },
  { weight: 1, score: freeShare },
];

function countPeers(pod: Pod, others: readonly Pod[]): number {
  const owner = controllerOf(pod)?.uid;
  if (owner === undefined) return 0;
  return others.filter((other) => controllerOf(other)?.uid === owner).length;
}

/** Of equal nodes the one with fewest pods, then by name, so that the same question has the same answer. */
function bestOf(pod: Pod, places: readonly NodeState[], cluster: Cluster): NodeState | undefined {
  const totals = places.map(() => 0);
  for (const { weight, score } of scores) {
    const values = places.map((place) => score(pod, place, cluster));
    const least = Math.min(...values);
    const span = Math.max(...values) - least;
    for (const [index, value] of values.entries()) {
      totals[index] =
        (totals[index] ?? 0) + (span === 0 ? 0 : (weight * 100 * (value - least)) / span);
    }
  }
  const ranked = places
    .map((place, index) => ({ place, total: totals[index] ?? 0 }))
    .sort(
      (a, b) =>
        b.total - a.total ||
        a.place.pods.length - b.place.pods.length ||
        ((a.place.node.metadata.name ?? '') < (b.place.node.metadata.name ?? '') ? -1 : 1),
    );
  return ranked[0]?.place;
}
