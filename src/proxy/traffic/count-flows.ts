// Counts the connections of Services in two listings of the kernel's table. What is stored for a connection is a row of numbers; what is
// counted is bounded by the endpoints that have traffic.
import type { FlowRecord } from '../../host/netlink/flow-records.ts';
import {
  type BusyConnection,
  type EndpointSet,
  type EndpointTraffic,
  maxBusiest,
  maxClients,
} from '../../kinds/part/traffic.ts';
import type { Entrance } from '../packets/reference-model.ts';
import { routeOf } from '../packets/reference-model.ts';
import {
  type AddressKey,
  addressOfKey,
  nodePortKey,
  protocolNumbers,
  readAddressKey,
  socketKey,
} from './flow-keys.ts';
import { createFlowTable, type FlowTable, maxFlows, noRow, seenIn } from './flow-table.ts';
import type { FlowTargets, TargetPort } from './targets.ts';

/** Connections of one service port, by its number, to one address. */
export type FlowCount = Omit<EndpointTraffic, 'isEligible'> & { readonly targetPort: number };

export type FlowCounter = {
  readonly first: (record: FlowRecord) => void;
  readonly second: (record: FlowRecord) => void;
  readonly counts: () => {
    readonly rows: readonly FlowCount[];
    /** Whether there were more connections than could be compared. */
    readonly isPartial: boolean;
  };
};

type Row = { -readonly [K in keyof Omit<FlowCount, 'clients' | 'busiest'>]: FlowCount[K] } & {
  readonly clients: Set<AddressKey>;
  readonly busiest: BusyConnection[];
};

type Target = {
  readonly number: number;
  readonly entrance: Entrance;
  readonly port: TargetPort;
  /** Absent: it depends on the client. */
  readonly set?: EndpointSet;
};

type Work = {
  readonly table: FlowTable;
  readonly targets: ReadonlyMap<number | string, Target>;
  readonly nodeAddresses: ReadonlySet<AddressKey>;
  /** By service port and set, then by endpoint. */
  readonly rows: Map<number, Map<number | string, Row>>;
  isPartial: boolean;
};

/** Of the kernel's states of a connection, in its numbers. */
const tcpState = { synSent: 1, lastAck: 6, synSent2: 9 } as const;
const sctpState = { cookieEchoed: 3, shutdownReceived: 6, closed: 1 } as const;
const seenReply = 1 << 1;
const setNames: readonly EndpointSet[] = ['cluster', 'local', 'unknown'];

export function createFlowCounter(targets: FlowTargets, limit = maxFlows): FlowCounter {
  const work: Work = {
    table: createFlowTable(limit),
    targets: new Map(targets.keys.map((key, at) => [key, targetAt(targets, at)])),
    nodeAddresses: new Set(targets.nodeAddresses),
    rows: new Map(),
    isPartial: false,
  };
  return {
    first(record) {
      if (findTarget(work, record) !== undefined) remember(work.table, record);
    },
    second(record) {
      const target = findTarget(work, record);
      if (target !== undefined) count(work, target, record);
    },
    counts: () => ({
      rows: [...work.rows.values()].flatMap((rows) => [...rows.values()].map(plain)),
      isPartial: work.isPartial,
    }),
  };
}

function targetAt({ ports, entrances, targetPorts }: FlowTargets, at: number): Target {
  const number = ports[at] ?? 0;
  const entrance = entrances[at] as Entrance;
  const port = targetPorts[number] as TargetPort;
  const target = { number, entrance, port };
  if (entrance !== 'cluster-ip' && port.externalPolicy === 'Local') return target;
  return { ...target, set: routeTo(target, { source: '', isFromNode: false }) };
}

function routeTo(
  { port, entrance }: Target,
  packet: { readonly source: string; readonly isFromNode: boolean },
): EndpointSet {
  const node = { localTraffic: port.localTraffic, masqueradeAll: false };
  return routeOf(node, { port, entrance }, packet).set;
}

/** Only what a rule has sent elsewhere: answers then come from another address or port than the client named. */
function findTarget({ targets, nodeAddresses }: Work, record: FlowRecord): Target | undefined {
  const { bytes, addressBytes, destination, destinationPort, protocol } = record;
  const address = readAddressKey(bytes, destination, addressBytes);
  const target = targets.get(socketKey(address, destinationPort, protocol));
  if (target !== undefined) return isTranslated(record) ? target : undefined;
  const family = addressBytes === 4 ? 'IPv4' : 'IPv6';
  const onNodePort = targets.get(nodePortKey(family, destinationPort, protocol));
  if (onNodePort === undefined || !nodeAddresses.has(address)) return undefined;
  return isTranslated(record) ? onNodePort : undefined;
}

function isTranslated(record: FlowRecord): boolean {
  const { bytes, addressBytes, destination, replySource } = record;
  if (record.replySourcePort !== record.destinationPort) return true;
  const end = destination + addressBytes;
  return bytes.compare(bytes, replySource, replySource + addressBytes, destination, end) !== 0;
}

function remember(table: FlowTable, record: FlowRecord): void {
  const row = table.rowOf(record.id, checkOf(record));
  if (row === noRow) return;
  table.setSeen(row, seenIn.first);
  table.setBytes(row, record.originalBytes ?? 0, record.replyBytes ?? 0);
}

/** Ids are hashes of 32 bits: with a million connections some are equal. Client, port and zone tell those apart. */
function checkOf({ bytes, source, addressBytes, sourcePort, zone }: FlowRecord): number {
  let check = Math.imul(sourcePort, 0x85ebca6b) ^ Math.imul(zone, 0xc2b2ae35);
  for (let at = source; at < source + addressBytes; at += 4) {
    check = Math.imul(check ^ bytes.readInt32BE(at), 0x01000193);
  }
  return check >>> 0;
}

function count(work: Work, target: Target, record: FlowRecord): void {
  const { table } = work;
  const slot = table.rowOf(record.id, checkOf(record));
  if (slot !== noRow && table.seen(slot) === seenIn.second) return;
  const { bytes, addressBytes, originalBytes, replyBytes } = record;
  const client = readAddressKey(bytes, record.source, addressBytes);
  const row = rowFor(work, target, client, record);
  row.tracked += 1;
  if (isOpen(record)) row.open += 1;
  else if (isUnanswered(record)) row.unanswered += 1;
  if (row.clients.size < maxClients) row.clients.add(client);
  if (originalBytes === undefined || replyBytes === undefined) row.uncounted += 1;
  if (slot === noRow) {
    work.isPartial = true;
    return;
  }
  const bytesIn = originalBytes ?? 0;
  const bytesOut = replyBytes ?? 0;
  const hasShrunk = bytesIn < table.bytesIn(slot) || bytesOut < table.bytesOut(slot);
  // With fewer bytes than before it is another connection that has got the entry of one that ended.
  const isNew = table.seen(slot) === seenIn.none || hasShrunk;
  if (isNew) row.opened += 1;
  const moreIn = isNew ? bytesIn : bytesIn - table.bytesIn(slot);
  const moreOut = isNew ? bytesOut : bytesOut - table.bytesOut(slot);
  row.bytesIn += moreIn;
  row.bytesOut += moreOut;
  addBusy(row.busiest, moreIn + moreOut, record);
  table.setSeen(slot, seenIn.second);
}

function addBusy(busiest: BusyConnection[], bytes: number, record: FlowRecord): void {
  if (bytes === 0 || bytes <= (busiest[maxBusiest - 1]?.bytes ?? 0)) return;
  busiest.push({ client: clientOf(record), bytes });
  busiest.sort((a, b) => b.bytes - a.bytes).splice(maxBusiest);
}

function clientOf({ bytes, source, addressBytes, sourcePort }: FlowRecord): string {
  const address = addressOfKey(readAddressKey(bytes, source, addressBytes));
  return addressBytes === 4 ? `${address}:${sourcePort}` : `[${address}]:${sourcePort}`;
}

function isOpen({ protocol, state, status }: FlowRecord): boolean {
  switch (protocol) {
    case protocolNumbers.TCP:
      return state > tcpState.synSent && state <= tcpState.lastAck;
    case protocolNumbers.SCTP:
      return state > sctpState.cookieEchoed && state <= sctpState.shutdownReceived;
    default:
      return (status & seenReply) !== 0;
  }
}

/** Of those that are not open: whether they begin. The others have ended. */
function isUnanswered({ protocol, state, status }: FlowRecord): boolean {
  switch (protocol) {
    case protocolNumbers.TCP:
      return state <= tcpState.synSent || state === tcpState.synSent2;
    case protocolNumbers.SCTP:
      return state > sctpState.closed && state <= sctpState.cookieEchoed;
    default:
      return (status & seenReply) === 0;
  }
}

function rowFor(work: Work, target: Target, client: AddressKey, record: FlowRecord): Row {
  const { bytes, addressBytes, replySource, replySourcePort } = record;
  const set = setOf(work, target, client);
  const group = target.number * setNames.length + setNames.indexOf(set);
  let rows = work.rows.get(group);
  if (rows === undefined) {
    rows = new Map();
    work.rows.set(group, rows);
  }
  const address = readAddressKey(bytes, replySource, addressBytes);
  const key = socketKey(address, replySourcePort, 0);
  const known = rows.get(key);
  if (known !== undefined) return known;
  const row: Row = {
    ...{ targetPort: target.number, set, ip: addressOfKey(address), port: replySourcePort },
    ...{ tracked: 0, open: 0, unanswered: 0, opened: 0, bytesIn: 0, bytesOut: 0, uncounted: 0 },
    clients: new Set(),
    busiest: [],
  };
  rows.set(key, row);
  return row;
}

/** The kernel does not record by which interface a connection came in. */
function setOf({ nodeAddresses }: Work, target: Target, client: AddressKey): EndpointSet {
  if (target.set !== undefined) return target.set;
  const isFromNode = nodeAddresses.has(client);
  const isByInterface = /^interface/.test(target.port.localTraffic.kind);
  if (isByInterface && !isFromNode) return 'unknown';
  return routeTo(target, { source: addressOfKey(client), isFromNode });
}

function plain({ clients, ...row }: Row): FlowCount {
  return { ...row, clients: clients.size };
}
