import { notReadyTaint } from '../../meta/well-known-taints.ts';
import type { Node, Taint } from './types.ts';

const notReady: Taint = { key: notReadyTaint, effect: 'NoSchedule' };

/** A new node takes no pods until someone has seen it ready and removed the taint. */
export function prepareNodeCreate(node: Node): Node {
  const { configSource: _spec, ...spec } = node.spec;
  const { config: _status, ...status } = node.status;
  const taints = spec.taints ?? [];
  const marked = taints.some((t) => t.key === notReady.key && t.effect === notReady.effect);
  return { ...node, spec: marked ? spec : { ...spec, taints: [...taints, notReady] }, status };
}

/** Configuration by the API is no more: what a node has of it stays, nothing comes. */
export function prepareNodeUpdate(before: Node, after: Node): Node {
  const { configSource, ...spec } = after.spec;
  const keeps = configSource !== undefined && before.spec.configSource !== undefined;
  return { ...after, spec: keeps ? { ...spec, configSource } : spec, status: before.status };
}

export function prepareNodeStatusUpdate(before: Node, after: Node): Node {
  const { config, ...status } = after.status;
  const keeps = config !== undefined && before.status.config !== undefined;
  return { ...after, spec: before.spec, status: keeps ? { ...status, config } : status };
}
