// Conditions of nodes.
import type { Node, NodeCondition } from './types.ts';

export function nodeCondition({ status }: Node, type: string): NodeCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

export function isNodeReady(node: Node): boolean {
  return nodeCondition(node, 'Ready')?.status === 'True';
}

/** Namespace of the kubelets' leases, each named after its node. */
export const nodeLeaseNamespace = 'kube-node-lease';
