// One client that lists 2,000 services again and again.
import { join } from 'node:path';
import { startBinary } from './binary.ts';
import { startCeiling } from './ceiling.ts';
import type { Figure } from './figure.ts';
import { load, type Measured } from './load.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';

const services = 2_000;
const lists = 100;

export async function listRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  try {
    const { pid, target } = binary;
    const shared = { target, first: 0, objects: services, salt: '', protocol: 'http/1.1' } as const;
    await load(pid, { ...shared, work: 'create', clients: 32, requests: services });
    const ours = await measure(pid, target);
    const file = join(directory, 'bare');
    const ceiling = await startCeiling({ target, bytes: ours.bytes, file });
    const bare = await measure(ceiling.pid, ceiling.target);
    await ceiling.stop();
    return [
      {
        ...{ row: 'list', unit: 'ms', value: ours.p50, goal: 10, upstream: '40-44 ms' },
        what: `list of 2,000 services (${(ours.bytes / 1e6).toFixed(1)} MB), median`,
        ...{ cpuMicros: ours.cpuMicros, p50: ours.p50, p99: ours.p99 },
        ceiling: { value: bare.p50, cpuMicros: bare.cpuMicros },
      },
    ];
  } finally {
    await binary.stop();
  }
}

async function measure(pid: number, target: Target): Promise<Measured> {
  const plan = {
    target,
    first: 0,
    objects: 1,
    salt: '',
    protocol: 'http/1.1',
    clients: 1,
    work: 'list',
  } as const;
  await load(pid, { ...plan, requests: 30 });
  return load(pid, { ...plan, requests: lists });
}
