// One event on its way to 1,000 watchers.
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { startBinary } from './binary.ts';
import { startCeiling } from './ceiling.ts';
import type { Figure } from './figure.ts';
import { load, percentile } from './load.ts';
import { cpuMicros } from './process-stats.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';
import { type WatchPlan, type WatchResult, warmUpEvents } from './watch-plan.ts';

const watchers = 1_000;
const events = 50;
const forms = [
  { protocol: 'h2', connections: 10, what: '1,000 watchers on 10 HTTP/2 connections' },
  { protocol: 'http/1.1', connections: watchers, what: '1,000 watchers on HTTP/1.1' },
] as const;

export async function watchRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  const { pid, target } = binary;
  try {
    const create = { target, protocol: 'http/1.1', clients: 1, work: 'create' } as const;
    const { bytes } = await load(pid, { ...create, requests: 1, first: 0, objects: 1, salt: '' });
    const figures: Figure[] = [];
    for (const form of forms) {
      const ours = await measure(pid, target, form);
      const ceiling = await startCeiling({ target, bytes, file: join(directory, 'bare') });
      const bare = await measure(ceiling.pid, ceiling.target, form);
      await ceiling.stop();
      figures.push({
        ...{ row: 'watch', what: `one event to ${form.what}, p99`, unit: 'ms', value: ours.p99 },
        ...{ goal: 50, upstream: '50 watchers: 12-48 ms' },
        ...{ cpuMicros: ours.cpu, p50: ours.p50, p99: ours.p99 },
        ceiling: { value: bare.p99, cpuMicros: bare.cpu },
      });
    }
    return figures;
  } finally {
    await binary.stop();
  }
}

type Timed = { readonly p50: number; readonly p99: number; readonly cpu: number };

async function measure(
  pid: number,
  target: Target,
  { protocol, connections }: (typeof forms)[number],
): Promise<Timed> {
  const workerData: WatchPlan = { target, protocol, connections, watchers, events, service: 0 };
  const worker = new Worker(new URL('./watch-worker.js', import.meta.url), { workerData });
  await once(worker, 'message');
  const before = cpuMicros(pid);
  // Asked for before the result: a worker that ended meanwhile hands over both at once.
  const exited = once(worker, 'exit');
  worker.postMessage('go');
  const [{ latencies }] = (await once(worker, 'message')) as [WatchResult];
  const cpu = (cpuMicros(pid) - before) / (events + warmUpEvents);
  await exited;
  const sorted = latencies.slice().sort();
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), cpu };
}
