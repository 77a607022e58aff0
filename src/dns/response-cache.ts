// Encoded answers about services, found by the bytes of the question. Each holds until its Service changes.
import type { Validity } from './cluster/zone.ts';
import type { Question } from './question.ts';
import type { Answer } from './wire/answer.ts';

export type ResponseCache = {
  /** By the key of a query: its name in lower case and its type. */
  readonly get: (key: string) => Answer | undefined;
  readonly set: (question: Question, answer: Answer, validity: Validity) => void;
  readonly size: () => number;
};

type Kept = { readonly answer: Answer; readonly validity: Validity };

/** Some 300 bytes each; the oldest goes first. */
export function createResponseCache(most: number): ResponseCache {
  const kept = new Map<string, Kept>();
  return {
    get(key) {
      const found = kept.get(key);
      if (found === undefined || found.validity.isCurrent) return found?.answer;
      kept.delete(key);
      return undefined;
    },
    set({ name, type }, answer, validity) {
      kept.set(name + String.fromCharCode(type >> 8, type & 0xff), { answer, validity });
      if (kept.size <= most) return;
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    },
    size: () => kept.size,
  };
}
