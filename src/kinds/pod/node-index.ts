// Finds the pods of a node.
import type { Pod } from './types.ts';

/** Name under which a store of pods keeps the index. */
export const podNodeIndex = 'node';

/** Files a pod under the node that it is bound to. */
export function podNode({ spec }: Pod): readonly string[] {
  return spec.nodeName ? [spec.nodeName] : [];
}
