// Answers of others, kept for as long as they say, and a while longer for when nobody else can be asked. Bounded.
import type { Question } from '../question.ts';
import type { Answer } from '../wire/answer.ts';
import type { Message } from '../wire/read-message.ts';
import { rcodes } from '../wire/record-types.ts';

export type CacheLimits = {
  readonly entries: number;
  readonly bytes: number;
  /** How long after its end an answer may still be given when upstream fails. */
  readonly staleSeconds: number;
};

export type Hit = {
  readonly answer: Answer;
  /** Asked for often and about to end: it should be brought up to date now. Said once for each entry. */
  readonly isDue: boolean;
};

export type AnswerCache = {
  readonly get: (question: Question, nowMs: number) => Hit | undefined;
  /** What has ended, while it may still be given. Its times to live are zero. */
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
  readonly endMs: number;
  readonly isDenial: boolean;
  hits: number;
  isRefreshing: boolean;
};

/** Asked for that often within its life, an answer is popular. */
const popularHits = 3;
/** The last part of its life in which a popular answer is brought up to date. */
const dueShare = 0.1;
/** What an entry costs besides the bytes of its answer and its key. */
const entryBytes = 300;

export function createAnswerCache(limits: CacheLimits): AnswerCache {
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
      if (entry === undefined || nowMs >= entry.endMs) return undefined;
      entry.hits += 1;
      const isDue = !entry.isRefreshing && entry.hits >= popularHits && isEnding(entry, nowMs);
      if (isDue) entry.isRefreshing = true;
      // Whoever was asked for last is the last to go.
      entries.delete(key);
      entries.set(key, entry);
      const seconds = Math.floor((nowMs - entry.storedMs) / 1000);
      return { answer: { ...entry.answer, aged: { offsets: entry.ttlOffsets, seconds } }, isDue };
    },
    getStale(question, nowMs) {
      const entry = entries.get(keyOf(question));
      if (entry === undefined || nowMs >= entry.endMs + limits.staleSeconds * 1000)
        return undefined;
      const aged = { offsets: entry.ttlOffsets, seconds: Number.MAX_SAFE_INTEGER };
      return { ...entry.answer, aged };
    },
    set(question, { answer, ttl = 0, ttlOffsets, rcode }, nowMs) {
      const key = keyOf(question);
      drop(key);
      if (ttl === 0) return;
      const isDenial = rcode === rcodes.NXDOMAIN || answer.answers === 0;
      const entry = { answer, ttlOffsets, storedMs: nowMs, endMs: nowMs + ttl * 1000, isDenial };
      entries.set(key, { ...entry, hits: 0, isRefreshing: false });
      bytes += weight(key, entry);
      if (isDenial) denials += 1;
      shrink();
    },
    size: () => ({ success: entries.size - denials, denial: denials, bytes }),
  };
}

function isEnding({ storedMs, endMs }: Entry, nowMs: number): boolean {
  return endMs - nowMs <= (endMs - storedMs) * dueShare;
}

function weight(key: string, { answer }: Pick<Entry, 'answer'>): number {
  return key.length + answer.body.length + entryBytes;
}

/** Signatures, and whether they were checked, make another answer. */
function keyOf({ name, type, dnssecOk, checkingDisabled }: Question): string {
  const wishes = (dnssecOk ? 1 : 0) | (checkingDisabled ? 2 : 0);
  return name + String.fromCharCode(type, wishes);
}
