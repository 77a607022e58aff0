// Reads that miss nothing: read etcd's newest revision, and wait until the watch has delivered it.
import { StoreError } from '../../store-error.ts';
import type { RevisionProgress } from './revision-progress.ts';

export type CatchUp = {
  /** Resolves when listeners have the revision of a write of this store: its event arrives by itself. */
  readonly toOwnWrite: (revision: number) => Promise<void>;
  /** The same for a revision that may be another program's. */
  readonly toRevision: (revision: number) => Promise<void>;
  /** Resolves when they have everything that any server acknowledged before this call. */
  readonly toPresent: () => Promise<void>;
};

export type CatchUpOptions = {
  readonly progress: RevisionProgress;
  /** The newest revision, read with a majority of members. */
  readonly currentRevision: () => Promise<number>;
  /** Makes the watch report its revision, when what is waited for never arrives as an event. */
  readonly requestProgress: () => Promise<void>;
};

/** Events arrive faster than this; what takes longer is likely another program's. */
const minPollMs = 10;
const maxPollMs = 100;
/** Longer than an election takes. */
const timeoutMs = 10_000;

export function createCatchUp({
  progress,
  currentRevision,
  requestProgress,
}: CatchUpOptions): CatchUp {
  let reading: Promise<unknown> | undefined;
  let next: Promise<void> | undefined;
  let isPolling = false;
  /** The highest revision that may be another program's and is waited for. */
  let othersRevision = 0;

  async function poll(): Promise<void> {
    isPolling = true;
    for (let waitMs = minPollMs; progress.hasWaiters(); waitMs = Math.min(waitMs * 2, maxPollMs)) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      progress.rejectOlder(performance.now() - timeoutMs, timedOut());
      const isStuck = progress.hasWaiters() && othersRevision > progress.revision();
      if (isStuck) await requestProgress().catch(ignoreOutage);
    }
    isPolling = false;
  }

  function toOwnWrite(revision: number): Promise<void> {
    if (revision <= progress.revision()) return Promise.resolve();
    const reached = progress.waitFor(revision);
    if (!isPolling) void poll();
    return reached;
  }

  function toRevision(revision: number): Promise<void> {
    othersRevision = Math.max(othersRevision, revision);
    return toOwnWrite(revision);
  }

  /** A read under way may be older than a call, which then needs the next one; all calls that arrive meanwhile share it. */
  async function readNext(): Promise<void> {
    // Its failure is for the calls that share it.
    await Promise.allSettled([reading]);
    next = undefined;
    const revision = currentRevision();
    reading = revision;
    await toRevision(await revision);
  }

  return {
    toOwnWrite,
    toRevision,
    toPresent() {
      next ??= readNext();
      return next;
    },
  };
}

/** The next request, or the timeout, deals with it. */
function ignoreOutage(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}

const timedOut = (): StoreError =>
  new StoreError('unavailable', `Cannot reach etcd: its watch is silent for ${timeoutMs} ms`);
