// Remembers the UDP ports that the kernel was last told of, so that what became of each is known.

import type { ProxyState, ServicePort, StateChange } from '../model/state.ts';
import type { FlowChange } from './stale-flows.ts';

export type FlowChanges = {
  /** What the change did to UDP ports; the next call starts from here. */
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
        changes.push({ ...pair, serving: servingUDP(key) });
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
): Omit<FlowChange, 'serving'> | undefined {
  if (before?.protocol !== 'UDP' && after?.protocol !== 'UDP') return undefined;
  return {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}
