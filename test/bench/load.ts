// Runs a load and says what it cost the server and itself.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadPlan, LoadResult } from './load-plan.ts';
import { cpuMicros } from './process-stats.ts';

export type Measured = {
  readonly perSecond: number;
  /** Server CPU for each request, microseconds. */
  readonly cpuMicros: number;
  /** The same of the load, which shares the cores. */
  readonly loadCpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
};

export async function load(pid: number, plan: LoadPlan): Promise<Measured> {
  const worker = new Worker(new URL('./load-worker.js', import.meta.url), { workerData: plan });
  await once(worker, 'message');
  const before = { server: cpuMicros(pid), own: process.cpuUsage() };
  // Asked for before the result: a worker that ended meanwhile hands over both at once.
  const exited = once(worker, 'exit');
  worker.postMessage('go');
  const [result] = (await once(worker, 'message')) as [LoadResult];
  const server = cpuMicros(pid) - before.server;
  const own = process.cpuUsage(before.own);
  await exited;
  const sorted = result.latencies.slice().sort();
  return {
    perSecond: plan.requests / result.seconds,
    cpuMicros: server / plan.requests,
    loadCpuMicros: (own.user + own.system) / plan.requests,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    bytes: result.bytes,
  };
}

export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}
