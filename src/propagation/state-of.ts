// What the states of parts mean for the whole.
import type { PartState, Propagation, PropagationState } from './propagation.ts';

export function stateOf({
  parts,
  nodesWithoutProxy,
}: Pick<Propagation, 'parts' | 'nodesWithoutProxy'>): PropagationState {
  if (parts.some(({ state }) => state === 'behind')) return 'behind';
  const isKnown = parts.every(({ state }) => state === 'current');
  return parts.length > 0 && isKnown && nodesWithoutProxy.length === 0 ? 'current' : 'unknown';
}

export const partName = ({ kind, node }: Pick<PartState, 'kind' | 'node'>): string =>
  `${kind} ${node}`;

/** Two of one name are those of a rolling update. */
export function keyedParts(parts: readonly PartState[]): ReadonlyMap<string, PartState> {
  const counts = new Map<string, number>();
  return new Map(
    parts.map((part) => {
      const name = partName(part);
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [`${name} ${count}`, part];
    }),
  );
}
