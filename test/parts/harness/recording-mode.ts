// A proxy mode that records states instead of writing rules.

import type { ProxyState, ServicePort, StateChange } from '../../../src/proxy/model/state.ts';
import { allModes } from '../../../src/proxy/modes/all.ts';
import type { Mode } from '../../../src/proxy/modes/mode.ts';
import { exampleTraits as traits } from '../../../src/proxy/packets/example-traits.ts';

export type Written = {
  readonly change: StateChange;
  readonly ports: ReadonlyMap<string, ServicePort>;
};

/** A mode of one family whose writes can be awaited, can be made to fail, and can be undone by others. */
export function createRecordingMode(names: readonly Mode['name'][] = ['nftables', 'iptables']) {
  const cleaned: string[] = [];
  const unread: Written[] = [];
  const waiting: ((written: Written) => void)[] = [];
  const hands = {
    isIntact: true,
    failures: 0,
    packets: { invalidDropped: 0, loopbackAccepted: 0 },
  };
  const sync = async ({ ports }: ProxyState, change: StateChange) => {
    if (hands.failures > 0) {
      hands.failures -= 1;
      throw new Error('refused, as the test requests');
    }
    hands.isIntact = true;
    const written = { change, ports: new Map(ports) };
    const next = waiting.shift();
    if (next === undefined) unread.push(written);
    else next(written);
    const rules = { nat: 10 * ports.size, filter: 5 };
    return {
      ...{ isFull: change.kind === 'full', changes: 1, bytes: 1 },
      ...{ rules, written: change.kind === 'full' ? rules : { nat: 1, filter: 0 } },
    };
  };
  const mode = (name: Mode['name']): Mode => ({
    ...(allModes.find((mode) => mode.name === name) ?? { name, configuration: { sections: [] } }),
    probe: async (family) =>
      family === 'IPv4'
        ? { works: true, detail: 'records' }
        : { works: false, reason: 'one family is enough', remedy: 'none' },
    start: async () => ({
      sync,
      isIntact: async () => hands.isIntact,
      packets: async () => hands.packets,
      stop: () => Promise.resolve(),
    }),
    cleanup: async (family) => void cleaned.push(`${name} ${family}`),
    tracePacket: () => () => ({ kind: 'pass' }),
    traits,
  });
  return {
    modes: names.map(mode),
    cleaned,
    hands,
    next: (): Promise<Written> => {
      const written = unread.shift();
      return written === undefined
        ? new Promise((found) => waiting.push(found))
        : Promise.resolve(written);
    },
  };
}
