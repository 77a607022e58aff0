// The cache of upstream answers: valid for their TTL, and kept longer to be served stale when upstream fails. Bounded (LRU).
import type { Question } from '../question.ts';
import type { Answer } from '../wire/answer.ts';
import type { Message } from '../wire/read-message.ts';
import { rcodes } from '../wire/record-types.ts';

export type CacheLimits = {
  readonly entries: number;
  readonly bytes: number;
  /** How long an expired answer may be served when upstream fails. */
  readonly staleSeconds: number;
};

export type Hit = {
  readonly answer: Answer;
  /** Popular and about to expire: it should be refreshed now. True once per entry. */
  readonly shouldPrefetch: boolean;
};

export type UpstreamCache = {
  readonly get: (question: Question, nowMs: number) => Hit | undefined;
  /** An expired answer that may still be served, with TTLs of zero. */
  readonly getStale: (question: Question, nowMs: number) => Answer | undefined;
  readonly set: (question: Question, message: Message, nowMs: number) => void;
  readonly size: () => CacheSize;
};

export type CacheSize = {
  readonly success: number;
  readonly denial: number;
  readonly bytes: number;
};

type Entry = {
  readonly answer: Answer;
  readonly ttlOffsets: readonly number[];
  readonly storedMs: number;
  readonly expiresMs: number;
  readonly isDenial: boolean;
  hits: number;
  isRefreshing: boolean;
};

/** An answer with this many hits is popular. */
const popularHits = 3;
/** The last part of its TTL in which a popular answer is refreshed. */
const prefetchShare = 0.1;
/** The overhead of an entry beside its answer and its key. */
const entryBytes = 300;

export function createUpstreamCache(limits: CacheLimits): UpstreamCache {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  let denials = 0;
  const drop = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    bytes -= weight(key, entry);
    if (entry.isDenial) denials -= 1;
  };
  const shrink = (): void => {
    while (entries.size > limits.entries || bytes > limits.bytes) {
      const [oldest] = entries.keys();
      if (oldest === undefined) return;
      drop(oldest);
    }
  };
  return {
    get(question, nowMs) {
      const key = keyOf(question);
      const entry = entries.get(key);
      if (entry === undefined || nowMs >= entry.expiresMs) return undefined;
      entry.hits += 1;
      const shouldPrefetch =
        !entry.isRefreshing && entry.hits >= popularHits && isExpiringSoon(entry, nowMs);
      if (shouldPrefetch) entry.isRefreshing = true;
      // Move to the end: the least recently used entry is evicted first.
      entries.delete(key);
      entries.set(key, entry);
      const seconds = Math.floor((nowMs - entry.storedMs) / 1000);
      return {
        answer: { ...entry.answer, aged: { offsets: entry.ttlOffsets, seconds } },
        shouldPrefetch,
      };
    },
    getStale(question, nowMs) {
      const entry = entries.get(keyOf(question));
      if (entry === undefined || nowMs >= entry.expiresMs + limits.staleSeconds * 1000)
        return undefined;
      const aged = { offsets: entry.ttlOffsets, seconds: Number.MAX_SAFE_INTEGER };
      return { ...entry.answer, aged };
    },
    set(question, { answer, ttl = 0, ttlOffsets, rcode }, nowMs) {
      const key = keyOf(question);
      drop(key);
      if (ttl === 0) return;
      const isDenial = rcode === rcodes.NXDOMAIN || answer.answers === 0;
      const entry = {
        answer,
        ttlOffsets,
        storedMs: nowMs,
        expiresMs: nowMs + ttl * 1000,
        isDenial,
      };
      entries.set(key, { ...entry, hits: 0, isRefreshing: false });
      bytes += weight(key, entry);
      if (isDenial) denials += 1;
      shrink();
    },
    size: () => ({ success: entries.size - denials, denial: denials, bytes }),
  };
}

function isExpiringSoon({ storedMs, expiresMs }: Entry, nowMs: number): boolean {
  return expiresMs - nowMs <= (expiresMs - storedMs) * prefetchShare;
}

function weight(key: string, { answer }: Pick<Entry, 'answer'>): number {
  return key.length + answer.body.length + entryBytes;
}

/** The DO and CD bits select different answers. */
function keyOf({ name, type, dnssecOk, checkingDisabled }: Question): string {
  const dnssecBits = (dnssecOk ? 1 : 0) | (checkingDisabled ? 2 : 0);
  return name + String.fromCharCode(type, dnssecBits);
}
