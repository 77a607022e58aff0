// The node port reservations in the store: which Service has which port.
import type { Entry, Listing, StoreEvent } from '../../storage/store.ts';
import { createNumberSet, type NumberSet } from './number-set.ts';

export type NodePortReservation = {
  /** `namespace/name` of the Service that has the port. */
  readonly service: string;
  /** Revision of its key. */
  readonly revision: number;
};

export type NodePortView = {
  /** Of the keys of all reservations. */
  readonly prefix: string;
  readonly find: (port: number) => NodePortReservation | undefined;
  /** The Service that has the port. */
  readonly isTaken: (port: number) => string | undefined;
  /** The lowest free port from one to another, both included. */
  readonly firstFree: NumberSet['firstGap'];
  /** Picked since the last change, by writes in flight. */
  readonly pending: Set<bigint>;
  /** The ports of one Service, `namespace/name`. */
  readonly ownedBy: (service: string) => readonly number[];
  readonly count: () => number;
  /** All reservations. */
  readonly all: () => Iterable<readonly [number, NodePortReservation]>;
  /** Loads what the store contains; other keys are ignored. */
  readonly load: (entries: readonly Entry[]) => void;
  readonly apply: (events: readonly StoreEvent[]) => void;
  /** Replaces everything, after changes were missed. */
  readonly replace: (everything: Listing) => void;
};

const prefix = '/registry/nodeports/';

export function nodePortKey(port: number): string {
  return `${prefix}${port}`;
}

export function nodePortValue(service: string): Uint8Array {
  return Buffer.from(JSON.stringify({ service }));
}

export function createNodePortView(): NodePortView {
  const taken = new Map<number, NodePortReservation>();
  const numbers = createNumberSet();
  const pending = new Set<bigint>();
  const owned = new Map<string, Set<number>>();
  // The last revision of each port, so that a listing cannot undo a newer change.
  const known = new Map<number, number>();

  function release(port: number): void {
    const service = taken.get(port)?.service;
    if (service === undefined) return;
    taken.delete(port);
    numbers.remove(BigInt(port));
    const ports = owned.get(service);
    ports?.delete(port);
    if (ports?.size === 0) owned.delete(service);
  }

  function set(key: string, value: Uint8Array | undefined, revision: number): void {
    const port = portOfKey(key);
    if (port === undefined || revision < (known.get(port) ?? 0)) return;
    known.set(port, revision);
    pending.clear();
    release(port);
    if (value === undefined) return;
    const service = ownerIn(value);
    taken.set(port, { service, revision });
    numbers.add(BigInt(port));
    const ports = owned.get(service);
    if (ports === undefined) owned.set(service, new Set([port]));
    else ports.add(port);
  }

  return {
    prefix,
    find: (port) => taken.get(port),
    isTaken: (port) => taken.get(port)?.service,
    firstFree: numbers.firstGap,
    pending,
    ownedBy: (service) => [...(owned.get(service) ?? [])],
    count: () => taken.size,
    all: () => taken,
    load(entries) {
      for (const { key, value, revision } of entries) set(key, value, revision);
    },
    apply(events) {
      for (const { key, value, revision } of events) set(key, value, revision);
    },
    replace({ entries, revision }) {
      for (const port of [...taken.keys()]) set(nodePortKey(port), undefined, revision);
      for (const port of known.keys()) known.set(port, 0);
      for (const { key, value, revision: at } of entries) set(key, value, at);
    },
  };
}

function portOfKey(key: string): number | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const text = key.slice(prefix.length);
  return /^[0-9]{1,5}$/.test(text) ? Number(text) : undefined;
}

/** An unreadable value reserves its port without a Service. */
function ownerIn(value: Uint8Array): string {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
    const service = (parsed as { readonly service?: unknown } | null)?.service;
    return typeof service === 'string' ? service : '';
  } catch (error) {
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}
