// What the writers of the crash test do, as a function of their number: so the state that a store must
// hold follows from how far each writer has come.
import type { Transaction, Write } from '../../src/storage/store.ts';

export const writers = 16;
/** Keys of each writer, which it overwrites in turn. */
const ring = 12;

/** Several keys at once: a pair with the same value, sometimes a deleted pair, and the count. */
export function transactionFor(writer: number, number: number): Transaction {
  const value = valueFor(writer, number);
  const write: Write[] = pairFor(writer, number).map((key) => ({ put: key, value }));
  if (number % 5 === 0) write.push(...pairFor(writer, number + 3).map((key) => ({ delete: key })));
  write.push({ put: countKey(writer), value: Buffer.from(String(number)) });
  return { compare: [], write };
}

export function countKey(writer: number): string {
  return `/count/${writer}`;
}

/** Everything that the store holds when the writers have come so far. */
export function stateAfter(counts: readonly number[]): Map<string, string> {
  const state = new Map<string, string>();
  for (const [writer, count] of counts.entries()) {
    // What happened more than a round of the ring ago has been overwritten.
    for (let number = Math.max(1, count - 2 * ring); number <= count; number++) {
      for (const each of transactionFor(writer, number).write) {
        if ('put' in each) state.set(each.put, Buffer.from(each.value).toString());
        else state.delete(each.delete);
      }
    }
  }
  return state;
}

function pairFor(writer: number, number: number): string[] {
  return ['a', 'b'].map((half) => `/${half}/${writer}/${number % ring}`);
}

/** Of very different lengths, so that some have pages of their own. */
function valueFor(writer: number, number: number): Buffer {
  return Buffer.from(
    `${writer}:${number}:`.padEnd(1 + ((number * 977 + writer * 31) % 5_000), 'x'),
  );
}
