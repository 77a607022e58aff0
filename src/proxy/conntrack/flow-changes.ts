// Stores the UDP ports that were last written to the kernel, to find what changed for each.

import type { ProxyState, ServicePort, StateChange } from '../model/state.ts';
import type { FlowChange } from './stale-flows.ts';

export type FlowChanges = {
  /** The changes of UDP ports since the previous call. */
  readonly take: (
    state: ProxyState,
    change: StateChange,
    servingUDP: (portKey: string) => ReadonlySet<string>,
  ) => readonly FlowChange[];
};

export function createFlowChanges(): FlowChanges {
  const known = new Map<string, ServicePort>();
  return {
    take(state, change, servingUDP) {
      const keys =
        change.kind === 'full' ? new Set([...known.keys(), ...state.ports.keys()]) : change.keys;
      const changes: FlowChange[] = [];
      for (const key of keys) {
        const pair = changeOf(known.get(key), state.ports.get(key));
        if (pair === undefined) continue;
        changes.push({ ...pair, servingEndpoints: servingUDP(key) });
        if (pair.after === undefined) known.delete(key);
        else known.set(key, pair.after);
      }
      return changes;
    },
  };
}

function changeOf(
  before: ServicePort | undefined,
  after: ServicePort | undefined,
): Omit<FlowChange, 'servingEndpoints'> | undefined {
  if (before?.protocol !== 'UDP' && after?.protocol !== 'UDP') return undefined;
  return {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}
