// The one writer of a store: commits all queued transactions together, notifies the
// listeners, then answers. Many transactions share one commit, because a commit waits for the disk.
import { type Evaluation, evaluate, type Mismatch, type Verdict } from './evaluate.ts';
import { entryOf, type History } from './history.ts';
import type { Change, RecordId } from './record-log.ts';
import type { FailedCompare, Outcome, Transaction } from './store.ts';
import { StoreError } from './store-error.ts';

export type WriteQueue = {
  transact(transaction: Transaction): Promise<Outcome>;
  /** Resolves when everything that only reads before the revision need is deleted. */
  compact(revision: number): Promise<void>;
  /** Resolves when the queue is empty and nothing is under way. */
  idle(): Promise<void>;
};

type Queued<Request, Answer> = {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
};
type QueuedTransaction = Queued<Transaction, Outcome>;
type QueuedCompaction = Queued<number, void>;

/** Bounds of one commit, so that it does not delay the next for too long. */
const maxTransactions = 2_000;
const maxBytes = 8 << 20;
/** More than a server has under way at once: a caller that reaches it does not await its transactions. */
const maxQueued = 50_000;
/** Changes in one step of a compaction; transactions are committed between the steps. */
const compactionStep = 500;

/** Calls `publish` with the committed changes, after the history has them and before the transactions resolve. */
export function startWriteQueue(
  history: History,
  now: () => number,
  publish: (changes: readonly Change[]) => void,
): WriteQueue {
  let transactions: QueuedTransaction[] = [];
  const compactions: QueuedCompaction[] = [];
  let running: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (transactions.length > 0 || compactions.length > 0) {
      // Callers that were just answered may have more: they join the next commit.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = nextBatch(transactions);
      transactions = transactions.slice(batch.length);
      await commitBatch(history, batch, now(), publish);
      const requested = compactions.splice(0);
      const unfinished = await compactSome(history, requested);
      compactions.push(...unfinished);
    }
    running = undefined;
  };
  return {
    transact(transaction) {
      if (transactions.length >= maxQueued) return Promise.reject(tooMany());
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
  const message = `Cannot queue another transaction: ${maxQueued} wait to be committed`;
  return new StoreError('unavailable', message);
}

/** The first of the queue, up to the bounds; at least one. */
function nextBatch(waiting: readonly QueuedTransaction[]): readonly QueuedTransaction[] {
  let bytes = 0;
  const end = waiting.findIndex(({ request }, index) => {
    for (const write of request.write) bytes += 'put' in write ? write.value.length : 0;
    return index > 0 && (index === maxTransactions || bytes > maxBytes);
  });
  return end === -1 ? waiting : waiting.slice(0, end);
}

async function commitBatch(
  history: History,
  batch: readonly QueuedTransaction[],
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
  batch: readonly QueuedTransaction[],
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

/** Takes one step towards the highest requested compaction; returns those that still wait. */
async function compactSome(
  history: History,
  waiting: readonly QueuedCompaction[],
): Promise<readonly QueuedCompaction[]> {
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
  const remove: RecordId[] = [];
  for (const { type, previous, revision, position } of changes) {
    if (previous !== undefined) remove.push(previous);
    if (type === 'delete') remove.push({ revision, position });
  }
  // Before the commit: readers must not read what is being deleted.
  history.compacted = compacted;
  try {
    await log.commit({ add: [], remove, compacted });
  } catch (error) {
    history.compacted = before;
    throw error;
  }
  for (const key of new Set(changes.map((change) => change.key))) versions.compact(key, compacted);
}
