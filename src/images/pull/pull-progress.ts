// How far a pull has come, for people: reported a few times per second, and at the end.
import type { PullProgress } from '../image-store.ts';

const intervalMs = 100;

export type ProgressCounter = {
  /** `start` bytes are here from an earlier attempt. */
  readonly received: (digest: string, bytes: number) => void;
  readonly done: (digest: string) => void;
  readonly finish: () => void;
};

export type CountedLayer = {
  readonly digest: string;
  readonly size: number;
  readonly isHere: boolean;
};

export function countProgress(
  layers: readonly CountedLayer[],
  report: (progress: PullProgress) => void,
  now: () => number,
): ProgressCounter {
  const received = new Map<string, number>();
  const done = new Set(layers.filter(({ isHere }) => isHere).map(({ digest }) => digest));
  const fetched = layers.filter(({ isHere }) => !isHere);
  const totalBytes = fetched.reduce((sum, { size }) => sum + size, 0);
  let reportedAt = Number.NEGATIVE_INFINITY;
  const emit = (): void => {
    reportedAt = now();
    const doneBytes = [...received.values()].reduce((sum, bytes) => sum + bytes, 0);
    report({ layers: layers.length, layersDone: done.size, totalBytes, doneBytes });
  };
  emit();
  return {
    received: (digest, bytes) => {
      received.set(digest, bytes);
      if (now() - reportedAt >= intervalMs) emit();
    },
    done: (digest) => {
      done.add(digest);
    },
    finish: emit,
  };
}
