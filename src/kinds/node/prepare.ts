import { notReadyTaint } from '../../meta/well-known-taints.ts';
import type { Node, Taint } from './types.ts';

const notReady: Taint = { key: notReadyTaint, effect: 'NoSchedule' };

/** New nodes are tainted not-ready until the node lifecycle controller finds them ready. */
export function prepareNodeCreate(node: Node): Node {
  const { configSource: _spec, ...spec } = node.spec;
  const { config: _status, ...status } = node.status;
  const taints = spec.taints ?? [];
  const marked = taints.some((t) => t.key === notReady.key && t.effect === notReady.effect);
  return { ...node, spec: marked ? spec : { ...spec, taints: [...taints, notReady] }, status };
}

/** Dynamic configuration was removed: existing fields stay, new ones are dropped. */
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
