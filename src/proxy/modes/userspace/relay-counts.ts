// What a relay has carried, by endpoint: totals, and the connections that are open. A connection costs an object, a byte an addition;
// everything else is computed when it is read.
import { type BusyConnection, maxBusiest, maxClients } from '../../../kinds/part/traffic.ts';
import type { HostPort } from './relay-address.ts';

/** Of one relay and one endpoint. Totals begin when the relay first uses the endpoint. */
export type EndpointCounts = HostPort & {
  readonly open: number;
  readonly opened: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Different addresses of clients with open connections, up to `maxClients`. */
  readonly clients: number;
  /** Bytes since the counts were read last. */
  readonly busiest: readonly BusyConnection[];
};

/** Counts the bytes of one direction. */
export type Moved = { readonly moved: number };

export type Client = { readonly address: string; readonly port: number };

export type RelayTally = {
  /** Returns what to call when the connection has ended. */
  readonly opened: (endpoint: HostPort, connection: Carried) => () => void;
  /** Endpoints that are no longer used are forgotten when their last connection has ended. */
  readonly update: (endpoints: readonly HostPort[]) => void;
  readonly read: () => readonly EndpointCounts[];
};

export type Carried = {
  /** Called when the counts are read. */
  readonly client: () => Client;
  /** The address as a key, cheaper than its text. */
  readonly clientKey: string;
  readonly up: Moved;
  readonly down: Moved;
};

type Open = Carried & { marked: number };
type Totals = { opened: number; bytesIn: number; bytesOut: number; readonly live: Set<Open> };

export function createRelayTally(): RelayTally {
  const byEndpoint = new Map<string, HostPort & Totals>();
  let used: ReadonlySet<string> = new Set();
  const totalsOf = ({ ip, port }: HostPort): HostPort & Totals => {
    const key = `${ip} ${port}`;
    const known = byEndpoint.get(key);
    if (known !== undefined) return known;
    const made = { ip, port, opened: 0, bytesIn: 0, bytesOut: 0, live: new Set<Open>() };
    byEndpoint.set(key, made);
    return made;
  };
  return {
    opened(endpoint, carried) {
      const totals = totalsOf(endpoint);
      const open: Open = { ...carried, marked: 0 };
      totals.opened += 1;
      totals.live.add(open);
      return () => {
        if (!totals.live.delete(open)) return;
        totals.bytesIn += open.up.moved;
        totals.bytesOut += open.down.moved;
      };
    },
    update(endpoints) {
      used = new Set(endpoints.map(({ ip, port }) => `${ip} ${port}`));
      for (const [key, { live }] of byEndpoint)
        if (live.size === 0 && !used.has(key)) byEndpoint.delete(key);
    },
    read: () => [...byEndpoint.values()].map(countsOf),
  };
}

function countsOf({ ip, port, opened, live, ...totals }: HostPort & Totals): EndpointCounts {
  let { bytesIn, bytesOut } = totals;
  const clients = new Set<string>();
  const busiest: { readonly open: Open; readonly bytes: number }[] = [];
  for (const open of live) {
    const carried = open.up.moved + open.down.moved;
    bytesIn += open.up.moved;
    bytesOut += open.down.moved;
    if (clients.size < maxClients) clients.add(open.clientKey);
    const bytes = carried - open.marked;
    open.marked = carried;
    if (bytes === 0 || bytes <= (busiest[maxBusiest - 1]?.bytes ?? 0)) continue;
    busiest.push({ open, bytes });
    busiest.sort((a, b) => b.bytes - a.bytes).splice(maxBusiest);
  }
  return {
    ...{ ip, port, open: live.size, opened, bytesIn, bytesOut, clients: clients.size },
    busiest: busiest.map(({ open, bytes }) => ({ client: clientText(open.client()), bytes })),
  };
}

const clientText = ({ address, port }: Client): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
