// Encoded answers about Services, keyed by the bytes of the question. Each is valid until its Service changes.
import type { Validity } from './cluster/zone.ts';
import type { Question } from './question.ts';
import type { Answer } from './wire/answer.ts';

export type ResponseCache = {
  /** By the key of a query: its name in lower case, and its type. */
  readonly get: (key: string) => Answer | undefined;
  readonly set: (question: Question, answer: Answer, validity: Validity) => void;
  readonly size: () => number;
};

type Entry = { readonly answer: Answer; readonly validity: Validity };

/** About 300 bytes per entry; the oldest entry is evicted first. */
export function createResponseCache(maxEntries: number): ResponseCache {
  const entries = new Map<string, Entry>();
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined || found.validity.isCurrent) return found?.answer;
      entries.delete(key);
      return undefined;
    },
    set({ name, type }, answer, validity) {
      entries.set(name + String.fromCharCode(type >> 8, type & 0xff), { answer, validity });
      if (entries.size <= maxEntries) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
    size: () => entries.size,
  };
}
