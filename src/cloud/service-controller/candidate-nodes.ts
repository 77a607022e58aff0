// Selects the nodes that may be targets of load balancers.
import type { Node } from '../../kinds/node/types.ts';
import { toBeDeletedTaint } from '../../meta/well-known-taints.ts';

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const falseWords = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Readiness does not matter, as load balancers have their own health checks (LBC-11). Sorted by name. */
export function candidateNodes(nodes: readonly Node[]): readonly Node[] {
  return nodes
    .filter((node) => !isGoing(node) && !isExcluded(node) && !hasDeletionTaint(node))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/**
 * The part of nodes whose change updates the hosts (LBC-13). The deletion taint alone does not: existing connections may
 * complete, and the node is removed soon.
 */
export function hostsKey(nodes: readonly Node[]): string {
  return nodes
    .filter((node) => !isGoing(node) && !isExcluded(node))
    .map(({ metadata, spec }) => `${metadata.name} ${metadata.uid} ${spec.providerID ?? ''}`)
    .sort()
    .join('\n');
}

const isGoing = ({ metadata }: Node): boolean => metadata.deletionTimestamp !== undefined;

/** The exclusion label: a false value includes the node; any other value, also an empty one, excludes it (LBC-12). */
function isExcluded({ metadata }: Node): boolean {
  const value = metadata.labels?.[excludeLabel];
  return value !== undefined && !falseWords.includes(value);
}

const hasDeletionTaint = ({ spec }: Node): boolean =>
  (spec.taints ?? []).some(({ key }) => key === toBeDeletedTaint);
