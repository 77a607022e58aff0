// Creates, gets and lists on a real etcd of one member, each beside the embedded engine in the same run.
import { join } from 'node:path';
import { etcdMissing, startEtcd } from '../parts/harness/running-etcd.ts';
import { type Binary, startBinary } from './binary.ts';
import type { Figure } from './figure.ts';
import { load, type Measured } from './load.ts';
import type { LoadPlan, Work } from './load-plan.ts';
import type { RowOptions } from './row.ts';

const services = 2_000;

type Case = {
  readonly work: Work;
  readonly what: string;
  readonly clients: number;
  readonly requests: number;
  /** Of the creates, above those that are there. */
  readonly first?: number;
};

const cases: readonly Case[] = [
  {
    ...{ work: 'create', clients: 32, requests: 4_000, first: 100_000 },
    what: 'creates of a Service on etcd, 32 clients',
  },
  {
    ...{ work: 'get', clients: 32, requests: 8_000 },
    what: 'consistent gets of a Service on etcd, 32 clients',
  },
  {
    ...{ work: 'list', clients: 1, requests: 60 },
    what: 'consistent list of 6,000 services on etcd, median',
  },
];

export async function etcdRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const missing = etcdMissing();
  if (missing !== undefined) {
    process.stderr.write(`  skipped: ${missing}\n`);
    return [];
  }
  const etcd = await startEtcd();
  try {
    const flags = ['--etcd-servers', etcd.url];
    const onEtcd = await measureOn(join(directory, 'etcd'), flags);
    const embedded = await measureOn(join(directory, 'embedded'), []);
    return cases.flatMap(({ work, what }, n) => {
      const [ours, beside] = [onEtcd[n], embedded[n]];
      return ours === undefined || beside === undefined
        ? []
        : [
            figure(work, what, ours),
            figure(work, `the same on the embedded engine (${work})`, beside),
          ];
    });
  } finally {
    await etcd.stop();
  }
}

function figure(work: Work, what: string, measured: Measured): Figure {
  const { perSecond, cpuMicros, p50, p99 } = measured;
  const value = work === 'list' ? p50 : perSecond;
  return {
    ...{ row: 'etcd', what, value, unit: work === 'list' ? 'ms' : '/s' },
    ...{ cpuMicros, p50, p99 },
  };
}

async function measureOn(
  directory: string,
  flags: readonly string[],
): Promise<readonly Measured[]> {
  const binary = await startBinary({ command: 'apiserver', directory, flags });
  try {
    const fill: Case = { work: 'create', what: '', clients: 32, requests: services };
    await load(binary.pid, planOf(binary, fill));
    const measured: Measured[] = [];
    for (const one of cases) measured.push(await load(binary.pid, planOf(binary, one)));
    return measured;
  } finally {
    await binary.stop();
  }
}

function planOf({ target }: Binary, { work, clients, requests, first = 0 }: Case): LoadPlan {
  const objects = work === 'create' ? requests : services;
  return { target, work, clients, requests, first, objects, protocol: 'http/1.1', salt: '' };
}
