// Node selectors, node affinity and taints.

import { matchesSelector, selectorFromMap } from '../../meta/labels.ts';
import { unschedulableTaint } from '../../meta/well-known-taints.ts';
import type { Node, Taint } from '../node/types.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from './affinity.ts';
import { isTolerated } from './tolerations.ts';
import type { Pod } from './types.ts';

export function matchesNodeAffinity({ spec }: Pick<Pod, 'spec'>, node: Node): boolean {
  if (!matchesSelector(selectorFromMap(spec.nodeSelector), node.metadata.labels)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (
    required === undefined ||
    (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node))
  );
}

/** Sum of the weights of the matching preferences. */
export function nodePreference({ spec }: Pod, node: Node): number {
  const preferred =
    spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred
    .filter(({ preference: term }) => matchesTerm(term, node))
    .reduce((total, { weight }) => total + weight, 0);
}

/** An empty term matches nothing. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': node.metadata.name ?? '' };
  return (
    matchExpressions.every((requirement) => matches(requirement, node.metadata.labels ?? {})) &&
    matchFields.every((requirement) => matches(requirement, fields))
  );
}

const operators: Readonly<
  Record<string, Parameters<typeof matchesSelector>[0][number]['operator']>
> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

function matches(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const known = operators[operator];
  return known !== undefined && matchesSelector([{ key, operator: known, values }], labels);
}

/** Taints with effect NoSchedule or NoExecute. */
export function hasUntoleratedTaint(pod: Pod, { spec }: Node): boolean {
  return (spec.taints ?? []).some(
    (taint) => taint.effect !== 'PreferNoSchedule' && !isTolerated(pod, taint),
  );
}

export function countAvoidedTaints(pod: Pod, { spec }: Node): number {
  return (spec.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(pod, taint),
  ).length;
}

const cordon: Taint = { key: unschedulableTaint, effect: 'NoSchedule' };

/** A cordoned node counts as tainted, whether the taint is set or not. */
export function isUnschedulable(pod: Pod, { spec }: Node): boolean {
  return spec.unschedulable === true && !isTolerated(pod, cordon);
}
