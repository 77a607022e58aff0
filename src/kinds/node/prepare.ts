import type { Node, Taint } from './types.ts';

const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A new node takes no pods until someone has seen it ready and removed the taint. */
export function prepareNodeCreate(node: Node): Node {
  const taints = node.spec.taints ?? [];
  const marked = taints.some((t) => t.key === notReady.key && t.effect === notReady.effect);
  return marked ? node : { ...node, spec: { ...node.spec, taints: [...taints, notReady] } };
}

export function prepareNodeUpdate(before: Node, after: Node): Node {
  return { ...after, status: before.status };
}

export function prepareNodeStatusUpdate(before: Node, after: Node): Node {
  return { ...after, spec: before.spec };
}
