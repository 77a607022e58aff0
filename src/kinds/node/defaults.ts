import { roundQuantities } from '../pod/resources.ts';
import type { Node, NodeSpec, NodeStatus } from './types.ts';

export function defaultNode(node: Node): Node {
  return { ...node, spec: alignPodCIDRs(node.spec), status: allocateAll(node.status) };
}

/** podCIDR is the first of podCIDRs; if they differ, podCIDR wins. */
function alignPodCIDRs(spec: NodeSpec): NodeSpec {
  const { podCIDR, podCIDRs } = spec;
  if (podCIDR) return podCIDRs?.[0] === podCIDR ? spec : { ...spec, podCIDRs: [podCIDR] };
  const first = podCIDRs?.[0];
  return first ? { ...spec, podCIDR: first } : spec;
}

function allocateAll(status: NodeStatus): NodeStatus {
  const capacity = status.capacity && roundQuantities(status.capacity);
  const allocatable = status.allocatable ? roundQuantities(status.allocatable) : capacity;
  return {
    ...status,
    ...(capacity === undefined ? {} : { capacity }),
    ...(allocatable === undefined ? {} : { allocatable }),
  };
}
