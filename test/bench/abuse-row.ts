// 1,000 clients of which 100 read slowly and 100 send garbage, beside the same server with the good ones alone.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { AbusePlan, AbuseResult } from './abuse-plan.ts';
import { startBinary } from './binary.ts';
import type { Figure } from './figure.ts';
import { load, percentile } from './load.ts';
import { cpuMicros, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const good = 800;
const bad = 100;
const services = 2_000;
const seconds = 10;
/** What the server may grow by, whatever its clients do: what the limits let them leave unread, and the same again. */
const memoryGoalMiB = 1024;

export async function abuseRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  try {
    const { pid, target } = binary;
    const fill = { target, first: 0, objects: services, salt: '', protocol: 'http/1.1' } as const;
    await load(pid, { ...fill, work: 'create', clients: 32, requests: services });
    const plan = { target, seconds, services };
    const quiet = { ...plan, good, slow: 0, garbage: 0 };
    await run(pid, [{ ...quiet, seconds: 3 }]);
    const before = await run(pid, [quiet]);
    const after = await run(pid, [quiet, { ...plan, good: 0, slow: bad, garbage: bad }]);
    const row = 'abuse';
    return [
      {
        ...{ row, unit: 'ms', value: before.p99, p50: before.p50, p99: before.p99 },
        what: 'gets of 800 good clients alone, p99',
        cpuMicros: before.cpuMicros,
      },
      {
        ...{ row, unit: 'ms', value: after.p99, p50: after.p50, p99: after.p99 },
        what: `the same beside 100 slow readers and 100 senders of garbage (${after.failures} failed)`,
        goal: 2 * before.p99,
      },
      {
        ...{ row, unit: 'MiB', value: residentMiB(pid).most, goal: memoryGoalMiB },
        what: 'the most memory meanwhile',
      },
    ];
  } finally {
    await binary.stop();
  }
}

type Run = {
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicros: number;
  readonly failures: number;
};

/** What the good clients of the first plan saw. */
async function run(pid: number, plans: readonly AbusePlan[]): Promise<Run> {
  const workers = plans.map(
    (workerData) => new Worker(new URL('./abuse-worker.js', import.meta.url), { workerData }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const begin = cpuMicros(pid);
  const results = workers.map(async (worker) => {
    const [result] = (await once(worker, 'message')) as [AbuseResult];
    return result;
  });
  const exits = workers.map((worker) => once(worker, 'exit'));
  for (const worker of workers) worker.postMessage('go');
  const [{ latencies, failures } = { latencies: new Float64Array(), failures: 0 }] =
    await Promise.all(results);
  await Promise.all(exits);
  const sorted = latencies.slice().sort();
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuMicros: (cpuMicros(pid) - begin) / Math.max(1, latencies.length),
    failures,
  };
}
