// Creates, merge patches and gets of 32 clients, each over both protocols.
import { join } from 'node:path';
import { type Binary, startBinary } from './binary.ts';
import { startCeiling } from './ceiling.ts';
import type { Figure } from './figure.ts';
import { load, type Measured } from './load.ts';
import type { LoadPlan, Work } from './load-plan.ts';
import type { RowOptions } from './row.ts';
import type { Protocol } from './target.ts';

const clients = 32;
/** Objects that patches and gets go round. */
const objects = 2_000;
/** The first of those that creates make, above the ones that are there. */
const firstCreated = 100_000;

type RequestRow = {
  readonly row: string;
  readonly work: Work;
  readonly what: string;
  readonly goal: number;
  readonly upstream: string;
  readonly requests: number;
};

export const createsRow = (options: RowOptions): Promise<readonly Figure[]> =>
  requestRow(options, {
    row: 'creates',
    work: 'create',
    what: 'durable creates of a Service, 32 clients',
    goal: 3_000,
    upstream: '150-200/s',
    requests: 12_000,
  });

export const patchesRow = (options: RowOptions): Promise<readonly Figure[]> =>
  requestRow(options, {
    row: 'patches',
    work: 'patch',
    what: 'durable merge patches, 32 clients',
    goal: 3_000,
    upstream: '760-960/s',
    requests: 12_000,
  });

export const getsRow = (options: RowOptions): Promise<readonly Figure[]> =>
  requestRow(options, {
    row: 'gets',
    work: 'get',
    what: 'gets of a Service, 32 clients',
    goal: 8_000,
    upstream: '2,200-2,500/s',
    requests: 30_000,
  });

async function requestRow(options: RowOptions, row: RequestRow): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory: options.directory });
  try {
    await load(binary.pid, planOf(binary, 'create', { requests: objects }));
    const plain = await measure(binary, options, { ...row, protocol: 'http/1.1' });
    const multiplexed = await measure(binary, options, { ...row, protocol: 'h2' });
    return [plain, { ...multiplexed, what: 'the same over HTTP/2' }];
  } finally {
    await binary.stop();
  }
}

type Options = {
  readonly requests: number;
  readonly first?: number;
  readonly protocol?: Protocol;
  readonly salt?: string;
};

function planOf({ target }: Pick<Binary, 'target'>, work: Work, options: Options): LoadPlan {
  return { target, work, clients, objects, first: 0, protocol: 'http/1.1', salt: '', ...options };
}

async function measure(
  binary: Binary,
  { directory }: RowOptions,
  { row, work, what, goal, upstream, requests, protocol }: RequestRow & { protocol: Protocol },
): Promise<Figure> {
  const warmUp = Math.floor(requests / 4);
  const first = protocol === 'h2' ? firstCreated + 2 * requests : firstCreated;
  const plan = planOf(binary, work, {
    ...{ requests, protocol, salt: protocol },
    ...(work === 'create' ? { first } : {}),
  });
  const before = work === 'create' ? { first: first + requests } : { salt: `${protocol} before` };
  await load(binary.pid, { ...plan, ...before, requests: warmUp });
  const ours = await load(binary.pid, plan);
  const bare = await measureCeiling(binary, join(directory, 'bare'), plan, ours.bytes);
  return {
    ...{ row, what, goal, upstream, unit: '/s', value: ours.perSecond },
    ...{ cpuMicros: ours.cpuMicros, p50: ours.p50, p99: ours.p99 },
    ceiling: { value: bare.perSecond, cpuMicros: bare.cpuMicros },
  };
}

async function measureCeiling(
  { target }: Binary,
  file: string,
  plan: LoadPlan,
  bytes: number,
): Promise<Measured> {
  const ceiling = await startCeiling({ target, bytes, file });
  try {
    const bare = { ...plan, target: ceiling.target };
    await load(ceiling.pid, { ...bare, requests: Math.floor(plan.requests / 4) });
    return await load(ceiling.pid, bare);
  } finally {
    await ceiling.stop();
  }
}
