// Resident memory: empty, with 10,000 services and 100,000 endpoints just written, and with them after a restart.
import { setTimeout as passed } from 'node:timers/promises';
import { startBinary } from './binary.ts';
import type { Figure } from './figure.ts';
import { load } from './load.ts';
import { residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const services = 10_000;
const clients = 32;
/** Garbage collectors give memory back some time after the work. */
const settleMs = 5_000;

export async function memoryRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  const empty = await settled(binary.pid);
  const plan = {
    target: binary.target,
    clients,
    protocol: 'http/1.1',
    first: 0,
    objects: services,
    salt: '',
  } as const;
  await load(binary.pid, { ...plan, work: 'create', requests: services });
  await load(binary.pid, { ...plan, work: 'create-slice', requests: services });
  const written = await settled(binary.pid);
  const { most } = residentMiB(binary.pid);
  await binary.stop();
  const restarted = await startBinary({ command: 'apiserver', directory });
  const read = await settled(restarted.pid);
  await restarted.stop();
  const row = 'memory';
  const unit = 'MiB';
  return [
    { row, unit, what: 'API server, empty', value: empty, goal: 120, upstream: '312 MiB' },
    {
      ...{ row, unit, value: read, goal: 500, upstream: '819 MiB' },
      what: '10,000 services, 100,000 endpoints, read at start',
    },
    { row, unit, what: 'the same, just written', value: written, goal: 500, upstream: '819 MiB' },
    { row, unit, what: 'the most while writing them', value: most },
    { row, unit: 'ms', what: 'start with them', value: restarted.readyMs },
  ];
}

async function settled(pid: number): Promise<number> {
  await passed(settleMs);
  return residentMiB(pid).now;
}
