// Connections that a mode relays itself, counted from what its relays say twice.
import type { Family } from '../model/state.ts';
import type { FlowCount } from './count-flows.ts';
import type { CountedPorts, NumberedPort } from './node-traffic.ts';

/** Of one relay to one endpoint; totals since the relay first used the endpoint. */
export type RelayedConnections = {
  /** Of the service port: its family, and its key. */
  readonly family: Family;
  readonly portKey: string;
  readonly set: 'cluster' | 'local';
  readonly ip: string;
  readonly port: number;
  readonly open: number;
  readonly opened: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
};

export type RelayReadings = {
  readonly before: readonly RelayedConnections[];
  readonly after: readonly RelayedConnections[];
  /** By `relayedPortKey`. */
  readonly ports: ReadonlyMap<string, NumberedPort>;
};

export function countRelayed({ before, after, ports }: RelayReadings): CountedPorts {
  const first = new Map(before.map((one) => [nameOf(one), one]));
  const numbers = new Map<string, number>();
  const numbered: NumberedPort[] = [];
  const counts = after.flatMap((now): readonly FlowCount[] => {
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

const nameOf = ({ family, portKey, set, ip, port }: RelayedConnections): string =>
  `${family} ${portKey} ${set} ${ip} ${port}`;

function countOne(
  now: RelayedConnections,
  before: RelayedConnections | undefined,
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
    // Relays do not record who called, nor what each connection carried.
    ...{ uncounted: 0, clients: 0, busiest: [] },
  };
}
