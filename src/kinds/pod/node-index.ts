// An index of pods by node.
import type { Pod } from './types.ts';

/** Name of the index. */
export const podNodeIndex = 'node';

/** The index key of a scheduled pod. */
export function podNode({ spec }: Pod): readonly string[] {
  return spec.nodeName ? [spec.nodeName] : [];
}
