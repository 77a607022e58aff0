// The stall watchdog: another thread detects when the event loop of this one is blocked, and logs the current work and the JavaScript stack.
// Here it costs one timer. The thread takes about 9 MiB and 20 ms of another core to start, so by default it starts with the first work: an
// idle program needs no watchdog.
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../host/worker-url.ts';
import { currentWork } from '../observe/current-work.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { LogFlag } from './log-flag.ts';

export type StallOptions = {
  readonly isLogged: boolean;
  readonly metrics: MetricsRegistry;
  /** `at-once`: for programs whose first work is their heaviest, which the start of a thread would disturb (`preferSmallHeap`). */
  readonly start?: 'with-first-work' | 'at-once';
};

export type StallWorkerData = {
  /** One counter, which grows while the event loop runs. */
  readonly beats: SharedArrayBuffer;
  readonly thresholdMs: number;
};

/** Clients start to notice; our own important timers are longer. */
const stallThresholdMs = 1000;
/** Four times per threshold. */
const beatMs = 250;

const buckets = [1, 2.5, 5, 10, 30, 60, 120];

export function watchStallsOf(
  { logLevel, stallWatchdog }: LogFlag,
  metrics: MetricsRegistry,
  start: StallOptions['start'] = 'with-first-work',
): () => void {
  return watchStalls({ isLogged: stallWatchdog && logLevel !== 'silent', metrics, start });
}

/** Starts the watchdog; returns a function that stops it. */
export function watchStalls({ isLogged, metrics, start }: StallOptions): () => void {
  const stalls = metrics
    .histogram({
      name: 'fairlead_event_loop_stall_seconds',
      help: 'Times for which the event loop of the main thread was blocked, where longer than a second.',
      buckets,
    })
    .observer({});
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const stopBeats = beat(new Int32Array(beats), (ms) => {
    if (ms > stallThresholdMs) stalls(ms / 1000);
  });
  let worker: Worker | undefined;
  // A debugger stops this process on purpose, and the watchdog's inspector session would resume it.
  const isDebugged = process.execArgv.some((flag) => flag.startsWith('--inspect'));
  if (isLogged && !isDebugged) {
    const startWatching = (): void => {
      worker = startWorker({ beats, thresholdMs: stallThresholdMs });
    };
    if (start === 'at-once') startWatching();
    else currentWork.beforeFirst = startWatching;
  }
  return () => {
    currentWork.beforeFirst = undefined;
    stopBeats();
    void worker?.terminate();
  };
}

function startWorker(workerData: StallWorkerData): Worker {
  const worker = new Worker(workerUrl('flags/report-stalls-worker'), {
    workerData,
    // The thread needs only a few hundred kilobytes of heap.
    resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    execArgv: [],
  });
  // The program works without the watchdog.
  worker.on('error', () => undefined);
  worker.unref();
  return worker;
}

/** Counts while the event loop runs, and measures how late each count is. */
function beat(beats: Int32Array, late: (ms: number) => void): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    late(now - last - beatMs);
    last = now;
    Atomics.add(beats, 0, 1);
  }, beatMs).unref();
  return () => clearInterval(timer);
}
