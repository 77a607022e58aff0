// The nodes on which ordinary pods run, from which connections come.
import { nodeCondition } from '../kinds/node/readiness.ts';
import type { Node } from '../kinds/node/types.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

/** Ready nodes without taints that keep pods away: control planes run few clients of Services. */
export function clientNodes({ snapshot }: SnapshotIndex): readonly Node[] {
  return snapshot.objects.nodes.filter((node) => isUp(node) && !keepsPodsAway(node));
}

/** Without the condition nothing is known. */
function isUp(node: Node): boolean {
  return (nodeCondition(node, 'Ready')?.status ?? 'True') === 'True';
}

function keepsPodsAway({ spec }: Node): boolean {
  const taints = spec.taints ?? [];
  return (
    spec.unschedulable === true ||
    taints.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute')
  );
}
