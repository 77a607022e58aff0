// Which nodes may stand behind a balancer.
import type { Node } from '../../kinds/node/types.ts';
import { toBeDeletedTaint } from '../../meta/well-known-taints.ts';

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const falseWords = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** LBC-11: readiness is not looked at, the balancer's own health check does that. In the order of their names. */
export function candidateNodes(nodes: readonly Node[]): readonly Node[] {
  return nodes
    .filter((node) => !isGoing(node) && !isExcluded(node) && !hasDeletionTaint(node))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/**
 * LBC-13: what makes hosts be updated. The deletion taint alone does not: existing connections to such a node are let
 * end, and the node itself goes soon.
 */
export function hostsKey(nodes: readonly Node[]): string {
  return nodes
    .filter((node) => !isGoing(node) && !isExcluded(node))
    .map(({ metadata, spec }) => `${metadata.name} ${metadata.uid} ${spec.providerID ?? ''}`)
    .sort()
    .join('\n');
}

const isGoing = ({ metadata }: Node): boolean => metadata.deletionTimestamp !== undefined;

/** LBC-12: a value that says no includes the node; anything else, also nothing, excludes it. */
function isExcluded({ metadata }: Node): boolean {
  const value = metadata.labels?.[excludeLabel];
  return value !== undefined && !falseWords.includes(value);
}

const hasDeletionTaint = ({ spec }: Node): boolean =>
  (spec.taints ?? []).some(({ key }) => key === toBeDeletedTaint);
