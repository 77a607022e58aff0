// Connections that a mode relays itself, counted from what its relays say twice.

import { maxBusiest, maxClients } from '../../kinds/part/traffic.ts';
import type { Family } from '../model/state.ts';
import type { RelayedConnections } from '../modes/mode.ts';
import type { FlowCount } from './count-flows.ts';
import type { CountedPorts, NumberedPort } from './node-traffic.ts';

/** Of one family. */
export type FamilyRelayed = RelayedConnections & { readonly family: Family };

export type RelayReadings = {
  readonly before: readonly FamilyRelayed[];
  readonly after: readonly FamilyRelayed[];
  /** By `relayedPortKey`. */
  readonly ports: ReadonlyMap<string, NumberedPort>;
};

export function countRelayed({ before, after, ports }: RelayReadings): CountedPorts {
  const first = summed(before);
  const numbers = new Map<string, number>();
  const numbered: NumberedPort[] = [];
  const counts = [...summed(after).values()].flatMap((now): readonly FlowCount[] => {
    const key = relayedPortKey(now.family, now.portKey);
    const port = ports.get(key);
    const count = countOne(now, first.get(nameOf(now)));
    if (port === undefined || count.tracked === 0) return [];
    const number = numbers.get(key) ?? numbered.push(port) - 1;
    numbers.set(key, number);
    return [{ ...count, targetPort: number }];
  });
  return { ports: numbered, counts };
}

export const relayedPortKey = (family: Family, key: string): string => `${family} ${key}`;

/** A port may have several relays with the same endpoints, one for each of its addresses. */
function summed(readings: readonly FamilyRelayed[]): ReadonlyMap<string, FamilyRelayed> {
  const sums = new Map<string, FamilyRelayed>();
  for (const one of readings) {
    const name = nameOf(one);
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? one : sumOf(sum, one));
  }
  return sums;
}

const sumOf = (a: FamilyRelayed, b: FamilyRelayed): FamilyRelayed => ({
  ...a,
  open: a.open + b.open,
  opened: a.opened + b.opened,
  bytesIn: a.bytesIn + b.bytesIn,
  bytesOut: a.bytesOut + b.bytesOut,
  // A client of both is counted twice.
  clients: Math.min(a.clients + b.clients, maxClients),
  busiest: [...a.busiest, ...b.busiest].sort((x, y) => y.bytes - x.bytes).slice(0, maxBusiest),
});

const nameOf = ({ family, portKey, set, ip, port }: FamilyRelayed): string =>
  `${family} ${portKey} ${set} ${ip} ${port}`;

function countOne(
  now: FamilyRelayed,
  before: FamilyRelayed | undefined,
): Omit<FlowCount, 'targetPort'> {
  // Totals that shrink are those of a relay that was opened anew.
  const isContinued = before !== undefined && before.opened <= now.opened;
  const since = (total: number, then = 0): number => (isContinued ? total - then : total);
  const opened = since(now.opened, before?.opened);
  return {
    ...{ set: now.set, ip: now.ip, port: now.port, open: now.open, opened },
    tracked: opened + (isContinued ? before.open : 0),
    unanswered: 0,
    bytesIn: since(now.bytesIn, before?.bytesIn),
    bytesOut: since(now.bytesOut, before?.bytesOut),
    ...{ uncounted: 0, clients: now.clients, busiest: now.busiest },
  };
}
