// What a node says of itself.
import type { Node, NodeCondition } from './types.ts';

export function nodeCondition({ status }: Node, type: string): NodeCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

export function isNodeReady(node: Node): boolean {
  return nodeCondition(node, 'Ready')?.status === 'True';
}

/** Namespace of the leases by which node agents show that they live; each has the name of its node. */
export const nodeLeaseNamespace = 'kube-node-lease';
