// Reports stored objects that cannot be read: once in the log, and in /readyz until they can be.

import type { Log } from '../../observe/log.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { Resources } from './resources.ts';

export function reportUnreadable(resources: Pick<Resources, 'unreadable'>, log: Log): void {
  const [first, ...others] = resources.unreadable();
  if (first === undefined) return;
  log.error('Cannot read stored objects', {
    count: others.length + 1,
    first: first.key,
    reason: first.reason,
  });
}

/** Throws an error that names the first of them. */
export function assertReadable(resources: Pick<Resources, 'unreadable'>, cause?: unknown): void {
  const found = resources.unreadable();
  const [first] = found;
  if (first === undefined) return;
  throw new UnreadableStoreError(
    `${found.length} stored objects cannot be read, the first is ${goQuote(first.key)}: ${first.reason}. Does --encryption-provider-config hold every key that they were written with?`,
    { cause },
  );
}

export class UnreadableStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableStoreError';
  }
}
