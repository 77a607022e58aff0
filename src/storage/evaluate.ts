// Decides what becomes of transactions that are committed together, each seeing what those before it
// in the batch wrote. Pure: nothing is changed until the batch is durable.
import type { Change, Place } from './record-log.ts';
import type { Compare, Transaction, Write } from './store.ts';

/** What stands at a key, as far as a comparison must know. */
export type Standing = Place & { readonly type: 'put' | 'delete'; readonly createRevision: number };

export type Verdict =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly revision: number; readonly failed: readonly Mismatch[] };

export type Mismatch = { readonly compare: Compare; readonly found: Standing | undefined };

export type Evaluation = {
  readonly changes: readonly Change[];
  /** One for each transaction, in their order. */
  readonly verdicts: readonly Verdict[];
  /** The revision after the batch. */
  readonly revision: number;
};

export type Situation = {
  readonly newest: (key: string) => Standing | undefined;
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export function evaluate(transactions: readonly Transaction[], situation: Situation): Evaluation {
  const written = new Map<string, Standing>();
  const standing = (key: string): Standing | undefined => {
    const found = written.get(key) ?? situation.newest(key);
    return found?.type === 'put' ? found : undefined;
  };
  const changes: Change[] = [];
  const verdicts: Verdict[] = [];
  let revision = situation.revision;
  for (const transaction of transactions) {
    const failed = mismatches(transaction.compare, standing);
    if (failed.length > 0) {
      verdicts.push({ committed: false, revision, failed });
      continue;
    }
    const made = changesOf(transaction.write, revision + 1, situation.now, standing);
    if (made.length > 0) revision++;
    for (const change of made) {
      written.set(change.key, change);
      changes.push(change);
    }
    verdicts.push({ committed: true, revision });
  }
  return { changes, verdicts, revision };
}

type Lookup = (key: string) => Standing | undefined;

function mismatches(compares: readonly Compare[], standing: Lookup): readonly Mismatch[] {
  const failed: Mismatch[] = [];
  for (const compare of compares) {
    const found = standing(compare.key);
    if ((found?.revision ?? 0) !== compare.revision) failed.push({ compare, found });
  }
  return failed;
}

/** The writes that change something: to delete what is not there changes nothing. */
function changesOf(
  writes: readonly Write[],
  revision: number,
  now: number,
  standing: Lookup,
): readonly Change[] {
  const effective = writes.every(isPut)
    ? writes
    : writes.filter((write) => isPut(write) || standing(write.delete));
  return effective.map((write, position) => {
    const puts = isPut(write);
    const key = puts ? write.put : write.delete;
    const before = standing(key);
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
