// Pod affinity, pod anti-affinity and topology spread constraints. A domain is all nodes with one value of a label.
import type { PodAffinityTerm, TopologySpreadConstraint } from '../../kinds/pod/affinity.ts';
import { matchesNodeAffinity } from '../../kinds/pod/node-selection.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  matchesSelector,
  type Requirement,
  type Selector,
  selectorFromLabelSelector,
} from '../../meta/labels.ts';
import type { Cluster, NodeState } from './cluster.ts';

type Terms = readonly PodAffinityTerm[] | undefined;

const requiredOf = (side: 'podAffinity' | 'podAntiAffinity', { spec }: Pod): Terms =>
  spec.affinity?.[side]?.requiredDuringSchedulingIgnoredDuringExecution;

/** Upstream's message of the filter that fails. */
export function affinityProblem(
  pod: Pod,
  candidate: NodeState,
  cluster: Cluster,
): string | undefined {
  const required = requiredOf('podAffinity', pod) ?? [];
  if (!required.every((term) => isSatisfied(term, pod, candidate, cluster)))
    return "node(s) didn't match pod affinity rules";
  const excluded = requiredOf('podAntiAffinity', pod) ?? [];
  if (excluded.some((term) => hasMatch(term, pod, candidate, cluster)))
    return "node(s) didn't match pod anti-affinity rules";
  if (violatesExistingAntiAffinity(pod, candidate, cluster))
    return "node(s) didn't satisfy existing pods anti-affinity rules";
  return undefined;
}

/** A pod that matches its own term may be the first of its group. */
function isSatisfied(
  term: PodAffinityTerm,
  pod: Pod,
  candidate: NodeState,
  cluster: Cluster,
): boolean {
  if (labelOf(candidate, term.topologyKey) === undefined) return false;
  if (hasMatch(term, pod, candidate, cluster)) return true;
  const matchesAnywhere = cluster.nodes.some(({ pods }) =>
    pods.some((other) => matchesPod(term, pod, other, cluster)),
  );
  return !matchesAnywhere && matchesPod(term, pod, pod, cluster);
}

function hasMatch(
  term: PodAffinityTerm,
  pod: Pod,
  candidate: NodeState,
  cluster: Cluster,
): boolean {
  return domainOf(candidate, term.topologyKey, cluster).some(({ pods }) =>
    pods.some((other) => matchesPod(term, pod, other, cluster)),
  );
}

function violatesExistingAntiAffinity(pod: Pod, candidate: NodeState, cluster: Cluster): boolean {
  return nodesWithAntiAffinity(cluster).some((other) =>
    other.pods.some((there) =>
      (requiredOf('podAntiAffinity', there) ?? []).some((term) => {
        const value = labelOf(candidate, term.topologyKey);
        const isNear = value !== undefined && value === labelOf(other, term.topologyKey);
        return isNear && matchesPod(term, there, pod, cluster);
      }),
    ),
  );
}

/** By cluster: every candidate needs them. */
const knownNodes = new WeakMap<Cluster, readonly NodeState[]>();

/** The nodes with pods that keep others away, and only those pods: few have such terms. */
function nodesWithAntiAffinity(cluster: Cluster): readonly NodeState[] {
  const known = knownNodes.get(cluster);
  if (known !== undefined) return known;
  const found = cluster.nodes.flatMap(({ node, pods }) => {
    const excluding = podsWithAntiAffinity(pods);
    return excluding.length === 0 ? [] : [{ node, pods: excluding }];
  });
  knownNodes.set(cluster, found);
  return found;
}

/** By list of pods, which stays the same while its node does not change. */
const knownPods = new WeakMap<readonly Pod[], readonly Pod[]>();

function podsWithAntiAffinity(pods: readonly Pod[]): readonly Pod[] {
  const known = knownPods.get(pods);
  if (known !== undefined) return known;
  const found = pods.filter((pod) => (requiredOf('podAntiAffinity', pod) ?? []).length > 0);
  knownPods.set(pods, found);
  return found;
}

/** Weights of matching affinity terms minus those of anti-affinity terms. */
export function affinityPreference(pod: Pod, candidate: NodeState, cluster: Cluster): number {
  const weigh = (side: 'podAffinity' | 'podAntiAffinity'): number =>
    (pod.spec.affinity?.[side]?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      .filter(({ podAffinityTerm: term }) => hasMatch(term, pod, candidate, cluster))
      .reduce((total, { weight }) => total + weight, 0);
  return weigh('podAffinity') - weigh('podAntiAffinity');
}

const labelOf = ({ node }: NodeState, key: string): string | undefined =>
  node.metadata.labels?.[key];

function domainOf(candidate: NodeState, key: string, { nodes }: Cluster): readonly NodeState[] {
  const value = labelOf(candidate, key);
  return value === undefined ? [] : nodes.filter((other) => labelOf(other, key) === value);
}

/** Whether a term of one pod matches another pod. */
function matchesPod(term: PodAffinityTerm, owner: Pod, other: Pod, cluster: Cluster): boolean {
  const selector: Selector = [
    ...selectorFromLabelSelector(term.labelSelector),
    ...keyRequirements(owner, term.matchLabelKeys, 'in'),
    ...keyRequirements(owner, term.mismatchLabelKeys, 'notin'),
  ];
  return (
    isInNamespaces(term, owner, other.metadata.namespace ?? '', cluster) &&
    matchesSelector(selector, other.metadata.labels)
  );
}

function keyRequirements(
  { metadata }: Pod,
  keys: readonly string[] = [],
  operator: 'in' | 'notin',
): readonly Requirement[] {
  return keys.flatMap((key) => {
    const value = metadata.labels?.[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

function isInNamespaces(
  { namespaces = [], namespaceSelector }: PodAffinityTerm,
  { metadata }: Pod,
  namespace: string,
  { namespaceLabels }: Cluster,
): boolean {
  if (namespaces.includes(namespace)) return true;
  if (namespaceSelector === undefined) {
    return namespaces.length === 0 && namespace === (metadata.namespace ?? '');
  }
  return matchesSelector(selectorFromLabelSelector(namespaceSelector), namespaceLabels(namespace));
}

/** Upstream's message when the pod would exceed the maxSkew of a constraint. */
export function spreadProblem(
  pod: Pod,
  candidate: NodeState,
  cluster: Cluster,
): string | undefined {
  const hard = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway',
  );
  for (const constraint of hard) {
    if (labelOf(candidate, constraint.topologyKey) === undefined)
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    if (isTooUneven(constraint, pod, candidate, cluster))
      return "node(s) didn't match pod topology spread constraints";
  }
  return undefined;
}

function isTooUneven(
  constraint: TopologySpreadConstraint,
  pod: Pod,
  candidate: NodeState,
  { nodes }: Cluster,
): boolean {
  const { topologyKey, labelSelector, matchLabelKeys, maxSkew, minDomains = 1 } = constraint;
  const selector: Selector = [
    ...selectorFromLabelSelector(labelSelector),
    ...keyRequirements(pod, matchLabelKeys, 'in'),
  ];
  const isCounted = (other: Pod): boolean =>
    other.metadata.namespace === pod.metadata.namespace &&
    other.metadata.deletionTimestamp === undefined &&
    matchesSelector(selector, other.metadata.labels);
  const counts = new Map<string, number>();
  for (const state of nodes) {
    const value = labelOf(state, topologyKey);
    if (value === undefined || !matchesNodeAffinity(pod, state.node)) continue;
    counts.set(value, (counts.get(value) ?? 0) + state.pods.filter(isCounted).length);
  }
  const minCount = counts.size < minDomains ? 0 : Math.min(...counts.values());
  const here = counts.get(labelOf(candidate, topologyKey) ?? '') ?? 0;
  const own = matchesSelector(selector, pod.metadata.labels) ? 1 : 0;
  return here + own - minCount > maxSkew;
}
