// Reads that miss nothing: ask etcd how far everybody has come, and wait until the watch has brought that much.
import { StoreError } from '../../store-error.ts';
import type { RevisionProgress } from './revision-progress.ts';

export type CatchUp = {
  /** Until listeners have heard of this revision, which is a write of ours: its event comes. */
  readonly toOurs: (revision: number) => Promise<void>;
  /** The same for one that may be anybody's. */
  readonly to: (revision: number) => Promise<void>;
  /** Until they have heard of all that anyone was told of before this call. */
  readonly now: () => Promise<void>;
};

export type CatchUpOptions = {
  readonly heard: RevisionProgress;
  /** The newest revision, read with a majority of members. */
  readonly currentRevision: () => Promise<number>;
  /** Makes the watch tell how far it is, when what is waited for is somebody else's and never comes as an event. */
  readonly nudge: () => Promise<void>;
};

/** Events are faster than this; what takes longer is likely not for us. */
const firstNudgeMs = 10;
const maxNudgeMs = 100;
/** Longer than an election takes. */
const limitMs = 10_000;

export function createCatchUp({ heard, currentRevision, nudge }: CatchUpOptions): CatchUp {
  let asking: Promise<unknown> | undefined;
  let next: Promise<void> | undefined;
  let isLooking = false;
  /** The furthest revision that may be anybody's and is waited for. */
  let foreign = 0;

  async function lookAfter(): Promise<void> {
    isLooking = true;
    for (let waitMs = firstNudgeMs; heard.isAwaited(); waitMs = Math.min(waitMs * 2, maxNudgeMs)) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      heard.giveUp(performance.now() - limitMs, tooLong());
      const isStuck = heard.isAwaited() && foreign > heard.revision();
      // An outage: the next try, or the limit.
      if (isStuck) await nudge().catch(() => {});
    }
    isLooking = false;
  }

  function toOurs(revision: number): Promise<void> {
    if (revision <= heard.revision()) return Promise.resolve();
    const reached = heard.reached(revision);
    if (!isLooking) void lookAfter();
    return reached;
  }

  function to(revision: number): Promise<void> {
    foreign = Math.max(foreign, revision);
    return toOurs(revision);
  }

  /** A read under way may be of before a later call, so that one needs another read; all that come meanwhile share it. */
  async function readNext(): Promise<void> {
    await asking?.catch(() => {});
    next = undefined;
    const revision = currentRevision();
    asking = revision;
    await to(await revision);
  }

  return {
    toOurs,
    to,
    now() {
      next ??= readNext();
      return next;
    },
  };
}

const tooLong = (): StoreError =>
  new StoreError('unavailable', `Cannot reach etcd: its watch is silent for ${limitMs} ms`);
