// "How much traffic do these Services have on your node?" Measured on request and not before.
import { formatAddress, parseAddress } from '../../ip/address.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { findExcess } from '../../schema/value-count.ts';
import { partsGroup, partsVersion } from './names.ts';
import type { QuestionKind } from './question.ts';
import { countIn, type Fields, fieldsOf, textIn } from './read-fields.ts';

export const trafficResource = {
  ...{ group: partsGroup, version: partsVersion, kind: 'Traffic' },
  ...{ plural: 'traffics', singular: 'traffic', namespaced: true },
} as const;

export type TrafficRequest = {
  /** Absent: of all namespaces. */
  readonly namespace?: string;
  /** Of the Service; absent: all. */
  readonly name?: string;
  /** Between the two listings. A measurement that runs already is answered with as it is. */
  readonly intervalMs: number;
  /** Connections of one service port to one endpoint are a row. Those with the least traffic are left out. */
  readonly maxRows: number;
};

const endpointSets = ['cluster', 'local', 'unknown'] as const;

/**
 * Which endpoints a connection could go to, by the policies of the Service; unknown: that depends on the interface by which it came in,
 * which the kernel does not record.
 */
export type EndpointSet = (typeof endpointSets)[number];

/** One of the connections with the most bytes between the listings. */
export type BusyConnection = {
  /** Address and port. */
  readonly client: string;
  readonly bytes: number;
};

/** The connections of one service port to one endpoint. */
export type EndpointTraffic = {
  readonly set: EndpointSet;
  /** Whether the proxy sends new connections of the set there now. */
  readonly isEligible: boolean;
  readonly ip: string;
  readonly port: number;
  /** Connections that are known: open ones, and where the kernel counts, those that ended in the last minutes. */
  readonly tracked: number;
  readonly open: number;
  /** Connections without an answer so far. */
  readonly unanswered: number;
  /** Began between the two listings. */
  readonly opened: number;
  /** Between the two listings, from clients. */
  readonly bytesIn: number;
  /** The same, to clients. */
  readonly bytesOut: number;
  /** Connections whose bytes are not counted. */
  readonly uncounted: number;
  /** Different client addresses; `maxClients` stands for that many or more, 0 for unknown. */
  readonly clients: number;
  /** At most `maxBusiest`, the largest first. */
  readonly busiest: readonly BusyConnection[];
};

const families = ['IPv4', 'IPv6'] as const;
const protocols = ['TCP', 'UDP', 'SCTP'] as const;

export type PortTraffic = {
  readonly namespace: string;
  readonly name: string;
  readonly portName: string;
  readonly family: (typeof families)[number];
  readonly protocol: (typeof protocols)[number];
  readonly port: number;
  /** How many endpoints of each set the proxy uses. */
  readonly eligible: { readonly cluster: number; readonly local: number };
  readonly endpoints: readonly EndpointTraffic[];
};

const byteCounts = ['yes', 'no', 'partly'] as const;

/** Partly: some connections began before accounting was switched on. */
export type BytesCounted = (typeof byteCounts)[number];

export type NodeTraffic = {
  readonly mode: string;
  /** What chooses endpoints where that is not meant to be even, such as the scheduler `lc` of IPVS. */
  readonly scheduler?: string;
  /** From the first listing to the second. */
  readonly intervalMs: number;
  /** How long ago that was: requests soon after a measurement get its result. */
  readonly ageMs: number;
  readonly bytesCounted: BytesCounted;
  readonly ports: readonly PortTraffic[];
  /** Rows that were left out because the answer would be too long, those with the least traffic. */
  readonly omittedRows: number;
  /** Whether there were more connections than are compared: rates are too low then. */
  readonly isPartial: boolean;
};

export const maxClients = 1000;
export const maxBusiest = 3;
export const minIntervalMs = 500;
/** A longer one would delay requests of others, which get the same measurement. */
export const maxIntervalMs = 10_000;
/** Some 400 kB as text. */
export const maxRowsOfPart = 1000;
/** Longer answers are cut by the part, and refused by the server: it reads one at a time, in some milliseconds. */
export const maxTextLength = 512 * 1024;
const maxModeLength = 64;
/** A day: longer ones are not of a measurement. */
const maxReportedMs = 86_400_000;

export const trafficQuestion: QuestionKind<TrafficRequest, NodeTraffic> = {
  name: 'Traffic',
  parts: ['proxy'],
  readSpec: readRequest,
  readAnswer: (value) => readNodeTraffic(typeof value === 'string' ? parsed(value) : value),
  writeAnswer: (traffic) => JSON.stringify(traffic),
};

/** A row has some forty. A million empty lists in as much text would take ten times as long to parse. */
const valueLimits = { values: 50_000, members: maxRowsOfPart + 1 };

function parsed(text: string): unknown {
  if (text.length > maxTextLength || findExcess(text, valueLimits) !== undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readRequest(value: unknown): TrafficRequest | undefined {
  const fields = fieldsOf(value);
  const intervalMs = fields && countIn(fields, 'intervalMs');
  const maxRows = fields && countIn(fields, 'maxRows');
  if (fields === undefined || intervalMs === undefined || maxRows === undefined) return undefined;
  if (intervalMs < minIntervalMs || intervalMs > maxIntervalMs) return undefined;
  const namespace = nameIn(fields, 'namespace');
  const name = nameIn(fields, 'name');
  const isScoped = (['namespace', 'name'] as const).every(
    (one) => fields[one] === undefined || nameIn(fields, one) !== undefined,
  );
  if (!isScoped) return undefined;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...{ intervalMs, maxRows: Math.min(maxRows, maxRowsOfPart) },
  };
}

/** Everything or nothing: who sends one value of a wrong type is not trusted with the others. */
function readNodeTraffic(value: unknown): NodeTraffic | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const mode = wordIn(fields, 'mode');
  const scheduler = wordIn(fields, 'scheduler');
  const [intervalMs, ageMs] = [
    millisecondsIn(fields, 'intervalMs'),
    millisecondsIn(fields, 'ageMs'),
  ];
  const bytesCounted = oneOf(byteCounts, fields.bytesCounted);
  const omittedRows = countIn(fields, 'omittedRows');
  const ports = readPorts(fields.ports);
  if (mode === undefined || intervalMs === undefined || intervalMs === 0) return undefined;
  if (ageMs === undefined || bytesCounted === undefined || omittedRows === undefined)
    return undefined;
  if (ports === undefined || (fields.scheduler !== undefined && scheduler === undefined))
    return undefined;
  return {
    ...{ mode, ...(scheduler === undefined ? {} : { scheduler }) },
    ...{ intervalMs, ageMs, bytesCounted, ports, omittedRows },
    isPartial: fields.isPartial === true,
  };
}

function readPorts(value: unknown): readonly PortTraffic[] | undefined {
  if (!Array.isArray(value) || value.length > maxRowsOfPart) return undefined;
  const ports: PortTraffic[] = [];
  let rows = 0;
  for (const one of value) {
    const port = readPort(one, maxRowsOfPart - rows);
    if (port === undefined) return undefined;
    rows += port.endpoints.length;
    ports.push(port);
  }
  return ports;
}

function readPort(value: unknown, room: number): PortTraffic | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const [namespace, name] = [nameIn(fields, 'namespace'), nameIn(fields, 'name')];
  const portName = fields.portName === '' ? '' : nameIn(fields, 'portName');
  const [family, protocol] = [oneOf(families, fields.family), oneOf(protocols, fields.protocol)];
  const port = portIn(fields);
  const eligible = fieldsOf(fields.eligible);
  const cluster = eligible && countIn(eligible, 'cluster');
  const local = eligible && countIn(eligible, 'local');
  const list = fields.endpoints;
  if (namespace === undefined || name === undefined || portName === undefined) return undefined;
  if (family === undefined || protocol === undefined || port === undefined) return undefined;
  if (cluster === undefined || local === undefined) return undefined;
  if (!Array.isArray(list) || list.length > room) return undefined;
  const endpoints = list.map((one) => readEndpoint(one, family));
  const read = endpoints.flatMap((one) => one ?? []);
  if (read.length !== list.length) return undefined;
  return {
    ...{ namespace, name, portName, family, protocol, port },
    ...{ eligible: { cluster, local }, endpoints: read },
  };
}

const counted = [
  ...(['tracked', 'open', 'unanswered', 'opened'] as const),
  ...(['bytesIn', 'bytesOut', 'uncounted', 'clients'] as const),
];

function readEndpoint(value: unknown, family: PortTraffic['family']): EndpointTraffic | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const set = oneOf(endpointSets, fields.set);
  const ip = addressIn(fields, family);
  const port = portIn(fields);
  const busiest = readBusiest(fields.busiest);
  const counts = counted.map((name) => countIn(fields, name));
  if (set === undefined || ip === undefined || port === undefined || busiest === undefined)
    return undefined;
  if (counts.includes(undefined)) return undefined;
  const [tracked = 0, open = 0, unanswered = 0, opened = 0] = counts;
  const [bytesIn = 0, bytesOut = 0, uncounted = 0, clients = 0] = counts.slice(4);
  return {
    ...{ set, isEligible: fields.isEligible === true, ip, port },
    ...{ tracked, open, unanswered, opened, bytesIn, bytesOut, uncounted, clients, busiest },
  };
}

function readBusiest(value: unknown): readonly BusyConnection[] | undefined {
  if (!Array.isArray(value) || value.length > maxBusiest) return undefined;
  const read = value.flatMap((one): readonly BusyConnection[] => {
    const fields = fieldsOf(one);
    const bytes = fields && countIn(fields, 'bytes');
    const client = fields && textIn(fields, 'client', maxClientLength);
    if (bytes === undefined || client === undefined || !clientPattern.test(client)) return [];
    return [{ client, bytes }];
  });
  return read.length === value.length ? read : undefined;
}

/** Of an IPv6 address in brackets, and a port. */
const maxClientLength = 64;
const clientPattern = /^(?:[0-9.]{7,15}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}$/;
const maxNameLength = 253;
const maxPort = 65_535;

/** Of an object or a port: what cannot be one is none. */
function nameIn(fields: Fields, field: string): string | undefined {
  const text = textIn(fields, field, maxNameLength);
  return text === undefined || dns1123Subdomain(text).length > 0 ? undefined : text;
}

const wordPattern = /^[a-z][a-z0-9-]*$/;

function wordIn(fields: Fields, field: string): string | undefined {
  const text = textIn(fields, field, maxModeLength);
  return text === undefined || !wordPattern.test(text) ? undefined : text;
}

/** Measured by clocks with fractions of a millisecond. */
function millisecondsIn(fields: Fields, field: string): number | undefined {
  const value = fields[field];
  const isFine = typeof value === 'number' && value >= 0 && value <= maxReportedMs;
  return isFine ? Math.round(value) : undefined;
}

function portIn(fields: Fields): number | undefined {
  const port = countIn(fields, 'port');
  return port === undefined || port < 1 || port > maxPort ? undefined : port;
}

function addressIn(fields: Fields, family: PortTraffic['family']): string | undefined {
  const address = parseAddress(textIn(fields, 'ip', maxClientLength) ?? '');
  return address?.family === family ? formatAddress(address) : undefined;
}

function oneOf<const V extends string>(values: readonly V[], value: unknown): V | undefined {
  return values.find((one) => one === value);
}
