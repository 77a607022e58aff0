// 200 nodes on one server: the informers of their proxies with connections of their own, what they cost the server, and how long one
// changed endpoint takes to reach all of them.
import { once } from 'node:events';
import { setTimeout as passed } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startBinary } from './binary.ts';
import type { Figure } from './figure.ts';
import { load, percentile } from './load.ts';
import type { NodesPlan, NodesResult, NodesSynced } from './nodes-plan.ts';
import { cpuMicros, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const nodes = 200;
const services = 500;
const changes = 40;
const warmUp = 10;
/** Garbage collectors give memory back some time after the work. */
const settleMs = 5_000;

export async function nodesRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const { pid, target, stop } = await startBinary({ command: 'apiserver', directory });
  try {
    const plan = { target, clients: 16, protocol: 'http/1.1', first: 0, salt: '' } as const;
    const filled = { ...plan, objects: services, requests: services };
    await load(pid, { ...filled, work: 'create-plain' });
    await load(pid, { ...filled, work: 'create-slice' });
    await passed(settleMs);
    const before = { memory: residentMiB(pid).now, cpu: cpuMicros(pid) };
    const workerData: NodesPlan = { target, nodes, changes, warmUp };
    const worker = new Worker(new URL('./nodes-worker.js', import.meta.url), { workerData });
    const next = async <T>(): Promise<T> => ((await once(worker, 'message')) as [T])[0];
    await next();
    worker.postMessage('go');
    const synced = await next<NodesSynced>();
    const syncCpu = cpuMicros(pid) - before.cpu;
    await passed(settleMs);
    const memory = residentMiB(pid).now;
    const idle = cpuMicros(pid);
    const exited = once(worker, 'exit');
    worker.postMessage('go');
    const result = await next<NodesResult>();
    const changeCpu = (cpuMicros(pid) - idle) / (changes + warmUp);
    await exited;
    return figuresOf({ synced, syncCpu, memory, grown: memory - before.memory, changeCpu, result });
  } finally {
    await stop();
  }
}

type Measured = {
  readonly synced: NodesSynced;
  readonly syncCpu: number;
  readonly memory: number;
  readonly grown: number;
  readonly changeCpu: number;
  readonly result: NodesResult;
};

function figuresOf(measured: Measured): readonly Figure[] {
  const { synced, syncCpu, memory, grown, changeCpu, result } = measured;
  const row = 'nodes';
  const each = result.latencies.slice().sort();
  const all = result.toAll.slice().sort();
  return [
    {
      ...{ row, unit: 's', value: synced.seconds, cpuMicros: syncCpu / nodes },
      what: '200 proxies read 500 services, 5,000 endpoints; CPU of one',
    },
    { row, unit: 'MiB', what: 'API server with all of them watching', value: memory },
    { row, unit: 'MiB', what: 'of that, for the 200 proxies', value: grown },
    {
      ...{ row, unit: 'ms', value: percentile(all, 0.5), cpuMicros: changeCpu },
      ...{ p50: percentile(each, 0.5), p99: percentile(each, 0.99) },
      what: 'one changed endpoint shown by all 200, median',
    },
  ];
}
