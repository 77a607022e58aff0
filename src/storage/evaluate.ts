// Evaluates transactions that are committed together; each sees the writes of those before it in the batch.
// Pure: nothing changes until the batch is durable.
import type { Change, RecordId } from './record-log.ts';
import type { Compare, Transaction, Write } from './store.ts';

/** The newest version of a key, as far as comparisons need it. */
export type KeyState = RecordId & {
  readonly type: 'put' | 'delete';
  readonly createRevision: number;
};

export type Verdict =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly revision: number; readonly failed: readonly Mismatch[] };

export type Mismatch = { readonly compare: Compare; readonly found: KeyState | undefined };

export type Evaluation = {
  readonly changes: readonly Change[];
  /** One for each transaction, in their order. */
  readonly verdicts: readonly Verdict[];
  /** The revision after the batch. */
  readonly revision: number;
};

export type StoreState = {
  readonly newest: (key: string) => KeyState | undefined;
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export function evaluate(transactions: readonly Transaction[], state: StoreState): Evaluation {
  const written = new Map<string, KeyState>();
  const stateOf = (key: string): KeyState | undefined => {
    const found = written.get(key) ?? state.newest(key);
    return found?.type === 'put' ? found : undefined;
  };
  const changes: Change[] = [];
  const verdicts: Verdict[] = [];
  let revision = state.revision;
  for (const transaction of transactions) {
    const failed = mismatches(transaction.compare, stateOf);
    if (failed.length > 0) {
      verdicts.push({ committed: false, revision, failed });
      continue;
    }
    const changed = changesOf(transaction.write, revision + 1, state.now, stateOf);
    if (changed.length > 0) revision++;
    for (const change of changed) {
      written.set(change.key, change);
      changes.push(change);
    }
    verdicts.push({ committed: true, revision });
  }
  return { changes, verdicts, revision };
}

type Lookup = (key: string) => KeyState | undefined;

function mismatches(compares: readonly Compare[], stateOf: Lookup): readonly Mismatch[] {
  const failed: Mismatch[] = [];
  for (const compare of compares) {
    const found = stateOf(compare.key);
    if ((found?.revision ?? 0) !== compare.revision) failed.push({ compare, found });
  }
  return failed;
}

/** The writes that change something: deleting an absent key changes nothing. */
function changesOf(
  writes: readonly Write[],
  revision: number,
  now: number,
  stateOf: Lookup,
): readonly Change[] {
  const effective = writes.every(isPut)
    ? writes
    : writes.filter((write) => isPut(write) || stateOf(write.delete));
  return effective.map((write, position) => {
    const puts = isPut(write);
    const key = puts ? write.put : write.delete;
    const before = stateOf(key);
    const ttlSeconds = puts ? write.ttlSeconds : undefined;
    return {
      type: puts ? 'put' : 'delete',
      key,
      value: puts ? write.value : nothing,
      origin: puts ? write.origin : undefined,
      revision,
      position,
      createRevision: before?.createRevision ?? revision,
      previous: before && { revision: before.revision, position: before.position },
      expiresAt: ttlSeconds === undefined ? undefined : now + ttlSeconds * 1000,
      isLast: position === effective.length - 1,
    };
  });
}

type Put = Extract<Write, { readonly put: string }>;

const isPut = (write: Write): write is Put => 'put' in write;

const nothing = new Uint8Array(0);
