// A propagation, for tables.
import type { PartState, Propagation } from './propagation.ts';
import { stateOf } from './state-of.ts';

export const examplePart = (node: string, facts: Partial<PartState> = {}): PartState => ({
  ...{ kind: 'proxy', node, state: 'current', revision: '7', since: '2026-01-01T12:00:00Z' },
  ...facts,
});

export function examplePropagation(
  parts: readonly PartState[],
  facts: Partial<Propagation> = {},
): Propagation {
  const { nodesWithoutProxy = [] } = facts;
  return {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'Propagation', namespace: 'shop', service: 'web' },
    ...{ time: '2026-01-01T12:00:01Z', revision: '7', parts, nodesWithoutProxy },
    state: stateOf({ parts, nodesWithoutProxy }),
    ...facts,
  };
}
