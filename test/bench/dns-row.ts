// Cluster DNS at 10,000 services with 100,000 endpoints: answers, what each costs beside a bare echo, how long one takes under
// load, how soon a change is answered, and memory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { askUdp } from '../parts/harness/dns-client.ts';
import { startBinary } from './binary.ts';
import { openClient, prepare } from './client.ts';
import {
  hasDnsperf,
  runDnsperf,
  startDnsBinary,
  startEcho,
  type UdpProcess,
} from './dns-process.ts';
import type { Figure } from './figure.ts';
import { load, median, percentile } from './load.ts';
import { namespace, serviceName, sliceBody, slicesPath } from './objects.ts';
import { residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';

const services = 10_000;
const rounds = 3;
const seconds = 4;
const probes = 2000;
const changes = 200;
/** The load under which the time of single answers is taken: a busy cluster, not an overrun one. */
const calmPerSecond = 10_000;
/** Garbage collectors give memory back some time after the work. */
const settleMs = 5000;

const domain = `${namespace}.svc.cluster.local`;

export async function dnsRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  if (!hasDnsperf()) {
    process.stderr.write('dns: needs dnsperf (Debian package dnsperf), left out\n');
    return [];
  }
  const server = await startBinary({ command: 'apiserver', directory });
  const plan = {
    target: server.target,
    clients: 32,
    protocol: 'http/1.1',
    salt: '',
    first: 0,
    objects: services,
    requests: services,
  } as const;
  await load(server.pid, { ...plan, work: 'create-plain' });
  await load(server.pid, { ...plan, work: 'create-slice' });
  const dns = await startDnsBinary(join(directory, 'kubeconfig'));
  try {
    await untilKnown(dns);
    return await measure(dns, server.target, directory);
  } finally {
    await dns.stop();
    await server.stop();
  }
}

async function untilKnown({ port }: UdpProcess): Promise<void> {
  const last = { name: `${serviceName(services - 1)}.${domain}` };
  while ((await askUdp({ host: '127.0.0.1', port }, last)).lines.length < 2) await passed(50);
}

async function measure(
  dns: UdpProcess,
  target: Target,
  directory: string,
): Promise<readonly Figure[]> {
  const found = join(directory, 'found.txt');
  const missing = join(directory, 'missing.txt');
  const list = (suffix: string): string =>
    Array.from({ length: services }, (_, index) => `${serviceName(index)}.${suffix} A\n`).join('');
  writeFileSync(found, list(domain));
  // What a search list asks on the way to a name outside.
  writeFileSync(missing, list(`example.com.${domain}`));
  const answers = await beside(dns, found);
  const noes = await beside(dns, missing);
  const calm = await latencies(dns, found);
  const changed = await changeEndpoints(dns, target);
  await passed(settleMs);
  const memory = residentMiB(dns.pid);
  const row = 'dns';
  return [
    {
      row,
      what: `answers, ${services} services`,
      unit: '/s',
      goal: 60_000,
      upstream: '25,000-30,000/s, 22-24 us',
      ...answers,
    },
    { row, what: 'answers that a name is not there', unit: '/s', ...noes },
    {
      row,
      what: `one answer at ${calmPerSecond}/s`,
      unit: 'ms',
      value: percentile(calm, 0.5),
      p50: percentile(calm, 0.5),
      p99: percentile(calm, 0.99),
    },
    {
      row,
      what: 'endpoint changed by the API to changed answer',
      unit: 'ms',
      value: percentile(changed, 0.5),
      p50: percentile(changed, 0.5),
      p99: percentile(changed, 0.99),
    },
    { row, what: 'memory of DNS', unit: 'MiB', value: memory.now, upstream: '210 MiB' },
  ];
}

/** In turns with the echo, so that both see the same machine. */
async function beside(dns: UdpProcess, file: string) {
  const own: { perSecond: number; cpuMicros: number }[] = [];
  const bare: { perSecond: number; cpuMicros: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    own.push(await runDnsperf(dns, file, { seconds }));
    const echo = await startEcho('batches');
    bare.push(await runDnsperf(echo, file, { seconds }));
    await echo.stop();
  }
  return {
    value: median(own.map(({ perSecond }) => perSecond)),
    cpuMicros: median(own.map(({ cpuMicros }) => cpuMicros)),
    ceiling: {
      value: median(bare.map(({ perSecond }) => perSecond)),
      cpuMicros: median(bare.map(({ cpuMicros }) => cpuMicros)),
    },
  };
}

async function latencies(dns: UdpProcess, file: string): Promise<Float64Array> {
  const address = { host: '127.0.0.1', port: dns.port };
  const running = runDnsperf(dns, file, { seconds: 2 * seconds, perSecond: calmPerSecond });
  const times: number[] = [];
  for (let probe = 0; probe < probes; probe += 1) {
    const began = performance.now();
    await askUdp(address, { name: `${serviceName((probe * 7919) % services)}.${domain}` });
    times.push(performance.now() - began);
  }
  await running;
  return Float64Array.from(times).sort();
}

/** From the answer of the API server to the first answer with the new endpoint. */
async function changeEndpoints({ port }: UdpProcess, target: Target): Promise<Float64Array> {
  const client = await openClient(target, 'http/1.1');
  const address = { host: '127.0.0.1', port };
  const times: number[] = [];
  for (let n = 0; n < changes; n += 1) {
    const index = (n * 7919) % services;
    const slice = JSON.parse(sliceBody(index)) as { endpoints: { addresses: string[] }[] };
    const [endpoint] = slice.endpoints;
    if (endpoint !== undefined) endpoint.addresses = [`10.200.${n >> 8}.${n & 255}`];
    const name = `10-200-${n >> 8}-${n & 255}.${serviceName(index)}.${domain}`;
    await client.send(
      prepare(
        {
          method: 'PATCH',
          path: `${slicesPath}/${serviceName(index)}-a`,
          contentType: 'application/merge-patch+json',
          body: JSON.stringify({ endpoints: slice.endpoints }),
        },
        'http/1.1',
      ),
    );
    const began = performance.now();
    while ((await askUdp(address, { name })).lines.length < 2);
    times.push(performance.now() - began);
  }
  client.close();
  return Float64Array.from(times).sort();
}
