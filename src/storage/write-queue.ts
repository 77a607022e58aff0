// The one writer of a store: takes all transactions that wait, commits them together, tells the
// listeners, then answers. Many transactions share one commit, because a commit waits for the disk.
import { type Evaluation, evaluate, type Mismatch, type Verdict } from './evaluate.ts';
import { entryOf, type History } from './history.ts';
import type { Change, Place } from './record-log.ts';
import type { FailedCompare, Outcome, Transaction } from './store.ts';
import { StoreError } from './store-error.ts';

export type WriteQueue = {
  transact(transaction: Transaction): Promise<Outcome>;
  /** Resolves when everything needed only for reading before the revision is gone. */
  compact(revision: number): Promise<void>;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
};

type Waiting<Request, Answer> = {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
};
type WaitingTransaction = Waiting<Transaction, Outcome>;
type WaitingCompaction = Waiting<number, void>;

/** Bounds of one commit, so that those who come later do not wait for too long a one. */
const maxTransactions = 2_000;
const maxBytes = 8 << 20;
/** More than any server has under way at once: whoever gets here does not wait for answers. */
const maxWaiting = 50_000;
/** Changes in one step of a compaction; transactions are committed between the steps. */
const compactionStep = 500;

/** Calls `publish` with what was committed, after the history shows it and before anyone is answered. */
export function startWriteQueue(
  history: History,
  now: () => number,
  publish: (changes: readonly Change[]) => void,
): WriteQueue {
  let transactions: WaitingTransaction[] = [];
  const compactions: WaitingCompaction[] = [];
  let running: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (transactions.length > 0 || compactions.length > 0) {
      // Those who were just answered may have more: let them in before the next commit.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = takeBatch(transactions);
      transactions = transactions.slice(batch.length);
      await commitBatch(history, batch, now(), publish);
      const asked = compactions.splice(0);
      const unfinished = await compactSome(history, asked);
      compactions.push(...unfinished);
    }
    running = undefined;
  };
  return {
    transact(transaction) {
      if (transactions.length >= maxWaiting) return Promise.reject(tooMany());
      return new Promise((resolve, reject) => {
        transactions.push({ request: transaction, resolve, reject });
        running ??= work();
      });
    },
    compact(revision) {
      return new Promise((resolve, reject) => {
        compactions.push({ request: revision, resolve, reject });
        running ??= work();
      });
    },
    async idle() {
      while (running !== undefined) await running;
    },
  };
}

function tooMany(): StoreError {
  const message = `Cannot take another transaction: ${maxWaiting} wait to be committed`;
  return new StoreError('unavailable', message);
}

/** Those that came first, up to the bounds; at least one. */
function takeBatch(waiting: readonly WaitingTransaction[]): readonly WaitingTransaction[] {
  let bytes = 0;
  const end = waiting.findIndex(({ request }, index) => {
    for (const write of request.write) bytes += 'put' in write ? write.value.length : 0;
    return index > 0 && (index === maxTransactions || bytes > maxBytes);
  });
  return end === -1 ? waiting : waiting.slice(0, end);
}

async function commitBatch(
  history: History,
  batch: readonly WaitingTransaction[],
  now: number,
  publish: (changes: readonly Change[]) => void,
): Promise<void> {
  const { log, versions, revision } = history;
  const requests = batch.map((waiting) => waiting.request);
  const evaluation = evaluate(requests, { newest: versions.newest, revision, now });
  if (evaluation.changes.length > 0) {
    try {
      await log.commit({ add: evaluation.changes, remove: [] });
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
      return;
    }
    for (const change of evaluation.changes) versions.add(change);
    history.revision = evaluation.revision;
    publish(evaluation.changes);
  }
  answer(history, batch, evaluation);
}

function answer(
  history: History,
  batch: readonly WaitingTransaction[],
  { verdicts }: Evaluation,
): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const verdict = verdicts[index];
    try {
      if (verdict !== undefined) resolve(outcomeOf(history, verdict));
    } catch (error) {
      reject(error);
    }
  }
}

function outcomeOf({ log }: History, verdict: Verdict): Outcome {
  if (verdict.committed) return verdict;
  const describe = ({ compare, found }: Mismatch): FailedCompare => ({
    ...compare,
    found: found && entryOf(log, compare.key, found),
  });
  return { ...verdict, failed: verdict.failed.map(describe) };
}

/** Takes one step towards the furthest compaction asked for; returns those that still wait. */
async function compactSome(
  history: History,
  waiting: readonly WaitingCompaction[],
): Promise<readonly WaitingCompaction[]> {
  const target = Math.max(...waiting.map(({ request }) => request));
  if (target > history.compacted) {
    try {
      await compactStep(history, target);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      return [];
    }
  }
  for (const { request, resolve } of waiting) if (request <= history.compacted) resolve();
  return waiting.filter(({ request }) => request > history.compacted);
}

/**
 * A value is needed until the change that replaced it is compacted away; a delete is needed until it
 * is itself compacted away.
 */
async function compactStep(history: History, target: number): Promise<void> {
  const { log, versions, compacted: before } = history;
  const changes = log.readAfter(before, target, compactionStep);
  const compacted = changes.at(-1)?.revision ?? target;
  const remove: Place[] = [];
  for (const { type, previous, revision, position } of changes) {
    if (previous !== undefined) remove.push(previous);
    if (type === 'delete') remove.push({ revision, position });
  }
  // Before the commit: readers must not look for what is just going.
  history.compacted = compacted;
  try {
    await log.commit({ add: [], remove, compacted });
  } catch (error) {
    history.compacted = before;
    throw error;
  }
  for (const key of new Set(changes.map((change) => change.key))) versions.compact(key, compacted);
}
