// Back-off of pulls that fail, for each image of each pod. Upstream: client-go/util/flowcontrol/backoff.go, as the kubelet uses it.
import type { ImageProblem } from './pull-messages.ts';

export type FailedPull = {
  readonly problem: ImageProblem;
  readonly delayMs: number;
  readonly failedAt: number;
};

/** 10 s, doubling up to 5 min. */
const limits = { firstMs: 10_000, maxMs: 300_000 };

export type PullBackOff = {
  /** The last failure, as long as it delays the next pull. */
  readonly of: (key: string, now: number) => FailedPull | undefined;
  readonly fail: (key: string, problem: ImageProblem, now: number) => FailedPull;
  readonly clear: (key: string) => void;
};

/** Pods come and go; what has been quiet for twice the maximum is forgotten. */
export function createPullBackOff(): PullBackOff {
  const failed = new Map<string, FailedPull>();
  const isOld = ({ failedAt }: FailedPull, now: number): boolean =>
    now - failedAt > 2 * limits.maxMs;
  return {
    of(key, now) {
      const last = failed.get(key);
      return last !== undefined && now - last.failedAt < last.delayMs ? last : undefined;
    },
    fail(key, problem, now) {
      for (const [one, last] of failed) if (isOld(last, now)) failed.delete(one);
      const last = failed.get(key);
      const doubled = last === undefined ? limits.firstMs : last.delayMs * 2;
      const next = { problem, delayMs: Math.min(doubled, limits.maxMs), failedAt: now };
      failed.set(key, next);
      return next;
    },
    clear: (key) => failed.delete(key),
  };
}
