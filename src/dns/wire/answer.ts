// A pre-encoded answer: complete but for header, question and OPT, which differ per query. Popular answers are encoded once.

/** Consecutive records of equal length that may be shuffled. Offsets count from the start of the body. */
export type Run = { readonly offset: number; readonly size: number; readonly count: number };

export type Answer = {
  /** Header bits of the answer: AA, TC, rcode. */
  readonly flags: number;
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
  /** The records, with names compressed against the question at offset 12. */
  readonly body: Uint8Array;
  readonly runs: readonly Run[];
  /** The offsets of the TTLs in the body, and the seconds to subtract from them. */
  readonly aged?: { readonly offsets: readonly number[]; readonly seconds: number };
};

const nothing = new Uint8Array(0);

/** An answer without records. */
export function emptyAnswer(flags: number): Answer {
  return { flags, answers: 0, authorities: 0, additionals: 0, body: nothing, runs: [] };
}
