// Runs inside the namespace: `proxy-inside.js MODE DIRECTORY`. Prints figures as JSON.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { startBinary } from './binary.ts';
import { openClient, prepare } from './client.ts';
import type { Figure } from './figure.ts';
import { load, percentile } from './load.ts';
import { serviceName, sliceBody, slicesPath } from './objects.ts';
import {
  type ProxyBinary,
  type ProxyCpu,
  type SyncLine,
  startProxyBinary,
} from './proxy-binary.ts';
import type { Target } from './target.ts';

const services = 10_000;
const changes = 200;
const clients = 32;
/** Garbage collectors give memory back some time after the work. */
const settleMs = 5000;

const goals = {
  nftables: { first: 5, change: 20, upstream: { first: '14 s', change: '4,700 ms' } },
  iptables: { first: 10, change: 100, upstream: { first: 'over 319 s', change: '' } },
} as const;

const [mode = 'nftables', parent = '.'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measure(mode as keyof typeof goals)));

async function measure(mode: keyof typeof goals): Promise<readonly Figure[]> {
  const directory = join(parent, mode);
  mkdirSync(directory);
  const server = await startBinary({ command: 'apiserver', directory });
  const plan = {
    target: server.target,
    clients,
    protocol: 'http/1.1',
    salt: '',
    first: 0,
    objects: services,
    requests: services,
  } as const;
  await load(server.pid, { ...plan, work: 'create-plain' });
  await load(server.pid, { ...plan, work: 'create-slice' });
  const began = performance.now();
  const proxy = startProxyBinary(join(directory, 'kubeconfig'), mode);
  const first = await proxy.nextSync((line) => line.isFull && line.family === 'IPv4');
  const startSeconds = (performance.now() - began) / 1000;
  const firstCpu = proxy.cpu();
  const one = await changeEndpoints(server.target, proxy);
  await passed(settleMs);
  const memory = proxy.memory();
  const again = await writeAllAnew(proxy);
  await proxy.stop();
  await server.stop();
  return figures(mode, { first, startSeconds, firstCpu, one, again, memory });
}

type Changes = { readonly sorted: Float64Array; readonly cpu: ProxyCpu };

async function changeEndpoints(target: Target, proxy: ProxyBinary): Promise<Changes> {
  const client = await openClient(target, 'http/1.1');
  const before = proxy.cpu();
  const times: number[] = [];
  for (let n = 0; n < changes; n += 1) {
    const index = (n * 7919) % services;
    // Another address for its first endpoint: one goes, one comes.
    const slice = JSON.parse(sliceBody(index)) as { endpoints: { addresses: string[] }[] };
    const [endpoint] = slice.endpoints;
    if (endpoint !== undefined) endpoint.addresses = [`10.200.${n >> 8}.${n & 255}`];
    const request = {
      method: 'PATCH',
      path: `${slicesPath}/${serviceName(index)}-a`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ endpoints: slice.endpoints }),
    };
    const written = proxy.nextSync((line) => !line.isFull && line.family === 'IPv4');
    await client.send(prepare(request, 'http/1.1'));
    times.push((await written).afterChangeMs);
  }
  client.close();
  const after = proxy.cpu();
  const each = (part: keyof ProxyCpu): number => ((after[part] - before[part]) * 1000) / changes;
  return {
    sorted: Float64Array.from(times).sort(),
    cpu: { user: each('user'), system: each('system'), programs: each('programs') },
  };
}

/** As after another program threw all rules away; noticed with the next look. */
async function writeAllAnew(proxy: ProxyBinary): Promise<SyncLine> {
  const written = proxy.nextSync((line) => line.isFull && line.family === 'IPv4');
  execFileSync('nft', ['flush', 'ruleset']);
  return written;
}

type Measured = {
  readonly first: SyncLine;
  readonly startSeconds: number;
  readonly firstCpu: ProxyCpu;
  readonly one: Changes;
  readonly again: SyncLine;
  readonly memory: { readonly now: number; readonly most: number };
};

function figures(mode: keyof typeof goals, measured: Measured): readonly Figure[] {
  const { first, startSeconds, firstCpu, one, again, memory } = measured;
  const { upstream, ...goal } = goals[mode];
  const row = 'proxy';
  const p50 = percentile(one.sorted, 0.5);
  const p99 = percentile(one.sorted, 0.99);
  return [
    {
      ...{ row, unit: 's', value: startSeconds, goal: goal.first, upstream: upstream.first },
      what: `${mode}, 10,000 services with 100,000 endpoints, start to rules in the kernel`,
    },
    { row, unit: 's', value: first.tookMs / 1000, what: `${mode}, of it the first sync` },
    ...whereTimeGoes(`${mode}, CPU of it`, 's', firstCpu),
    {
      ...{ row, unit: 'ms', value: p99, goal: goal.change, p50, p99 },
      ...(upstream.change === '' ? {} : { upstream: upstream.change }),
      what: `${mode}, one endpoint, watch event to kernel, p99`,
    },
    ...whereTimeGoes(`${mode}, CPU of a change`, 'ms', one.cpu),
    { row, unit: 's', value: again.tookMs / 1000, what: `${mode}, everything anew after a flush` },
    {
      ...{ row, unit: 'MiB', value: memory.now, goal: 200, upstream: '286 MiB' },
      what: `${mode}, memory`,
    },
    { row, unit: 'MiB', value: memory.most, what: `${mode}, the most memory until then` },
  ];
}

function whereTimeGoes(what: string, unit: 's' | 'ms', cpu: ProxyCpu): readonly Figure[] {
  const row = 'proxy';
  return [
    { row, unit, value: cpu.user, what: `${what} in our code and libraries` },
    { row, unit, value: cpu.system, what: `${what} in the kernel` },
    ...(cpu.programs === 0
      ? []
      : ([{ row, unit, value: cpu.programs, what: `${what} in programs it runs` }] as const)),
  ];
}
