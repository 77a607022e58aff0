// The thread that parses and writes large YAML, one text at a time. It starts on demand and ends when
// it is idle for a while.
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../host/worker-url.ts';
import { tooLarge } from '../../meta/api-error.ts';
import { tooManyRequests } from '../limits/too-many-requests.ts';
import type { YamlJob, YamlResult } from './convert-yaml-worker.ts';

/** A text at the limits takes a second or two; one that takes longer is an attack. */
const timeoutMs = 20_000;
/** Each holds a body; further requests get 429. */
const maxQueued = 32;
const idleMs = 30_000;

type QueuedJob = {
  readonly job: YamlJob;
  readonly resolve: (result: YamlResult) => void;
  readonly reject: (error: Error) => void;
};

const queue: QueuedJob[] = [];
let worker: Worker | undefined;
let current: QueuedJob | undefined;
let timer: NodeJS.Timeout | undefined;

/** Rejects with 429 where too many wait, and with 413 where the text takes too long. */
export function runYamlJob(job: YamlJob): Promise<YamlResult> {
  if (queue.length >= maxQueued) return Promise.reject(tooManyRequests());
  return new Promise((resolve, reject) => {
    queue.push({ job, resolve, reject });
    next();
  });
}

function next(): void {
  if (current !== undefined) return;
  clearTimeout(timer);
  current = queue.shift();
  if (current === undefined) {
    timer = setTimeout(stop, idleMs).unref();
    return;
  }
  worker ??= start();
  worker.ref();
  timer = setTimeout(() => {
    stop();
    settle((waiting) =>
      waiting.reject(tooLarge('Request entity too large: it takes too long to read')),
    );
  }, timeoutMs).unref();
  worker.postMessage(current.job);
}

function start(): Worker {
  const started = new Worker(workerUrl('apiserver/yaml/convert-yaml-worker'));
  started.on('message', (result: YamlResult) => {
    if (worker !== started) return;
    started.unref();
    settle((waiting) => waiting.resolve(result));
  });
  // A text that exhausts the memory of the thread ends only the thread.
  started.on('error', () => {
    if (worker !== started) return;
    worker = undefined;
    settle((waiting) => waiting.reject(tooLarge('Request entity too large: it cannot be read')));
  });
  return started;
}

function settle(deliver: (waiting: QueuedJob) => void): void {
  const waiting = current;
  current = undefined;
  if (waiting !== undefined) deliver(waiting);
  next();
}

function stop(): void {
  void worker?.terminate();
  worker = undefined;
}
