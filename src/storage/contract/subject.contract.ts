// What the cases of the contract share: the store on which each runs, and shorthands for its operations.
import assert from 'node:assert/strict';
import type { Entry, Store, StoreEvent, Write } from '../store.ts';
import { isStoreError, type StoreErrorReason } from '../store-error.ts';
import type { TestClock } from '../test-clock.ts';

export type OpenedStore = {
  readonly store: Store;
  /** Opens the closed store again; absent for backends that persist nothing. */
  readonly reopen?: () => Promise<Store>;
  readonly cleanup: () => Promise<void>;
};

export type Subject = OpenedStore & { readonly clock: TestClock };
/** One case, on a store of its own. */
export type On = (title: string, body: (subject: Subject) => Promise<void>) => void;

export function puts(key: string, value: string): Write {
  return { put: key, value: bytes(value) };
}

export async function put(store: Store, key: string, value: string): Promise<number> {
  return (await store.transact({ compare: [], write: [puts(key, value)] })).revision;
}

export async function remove(store: Store, key: string): Promise<number> {
  return (await store.transact({ compare: [], write: [{ delete: key }] })).revision;
}

/** Events after one revision up to another, which must be reached. */
export async function collect(
  store: Store,
  prefix: string,
  after: number,
  until: number,
): Promise<readonly StoreEvent[]> {
  const all: StoreEvent[] = [];
  for await (const events of store.watch(prefix, after, AbortSignal.timeout(30_000))) {
    assert.notEqual(events.length, 0);
    all.push(...events);
    if ((all.at(-1)?.revision ?? 0) >= until) break;
  }
  return all;
}

export function firstOf(store: Store, after: number): Promise<unknown> {
  const signal = AbortSignal.timeout(30_000);
  return store.watch('/', after, signal)[Symbol.asyncIterator]().next();
}

export async function refuses(promise: Promise<unknown>, reason: StoreErrorReason): Promise<void> {
  await assert.rejects(promise, (error) => isStoreError(error, reason));
}

export function summary({
  type,
  key,
  value,
  revision,
  createRevision,
  previous,
}: StoreEvent): string {
  const now = `${type} ${key}${value === undefined ? '' : `=${text(value)}`} ${revision}`;
  const before =
    previous === undefined ? '' : ` before ${text(previous.value)} ${previous.revision}`;
  return `${now} created ${createRevision}${before}`;
}

export function readable(entry: Entry | undefined): unknown[] {
  if (entry === undefined) return [];
  return [entry.key, text(entry.value), entry.revision, entry.createRevision];
}

export function keysOf(entries: readonly Entry[]): string[] {
  return entries.map(({ key }) => key);
}

export function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

export function text(value: Uint8Array | undefined): string {
  return new TextDecoder().decode(value);
}

/** Lets everything that is due run. */
export function nextImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
