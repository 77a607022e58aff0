// An answer, encoded as far as it can be before the question is known: only header, question and OPT are missing, which differ
// from asker to asker. What many ask for is encoded once.

/** Records of equal length one behind the other, whose order is free. Offsets count from the start of the body. */
export type Run = { readonly offset: number; readonly size: number; readonly count: number };

export type Answer = {
  /** What the answer adds to the header: authoritative, truncated, the code. */
  readonly flags: number;
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
  /** The records, compressed against a question at offset 12. */
  readonly body: Uint8Array;
  readonly runs: readonly Run[];
  /** Where the times to live stand in the body, and how many seconds have passed since they were right. */
  readonly aged?: { readonly offsets: readonly number[]; readonly seconds: number };
};

const nothing = new Uint8Array(0);

/** An answer without records: refused, failed, not there. */
export function emptyAnswer(flags: number): Answer {
  return { flags, answers: 0, authorities: 0, additionals: 0, body: nothing, runs: [] };
}
