// Runs inside the namespace: `relay-inside.js DIRECTORY`. Prints figures as JSON.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBinary } from './binary.ts';
import { openClient, prepare } from './client.ts';
import type { Figure } from './figure.ts';
import { cpuMicros } from './process-stats.ts';
import { startProxyBinary } from './proxy-binary.ts';
import type { Target } from './target.ts';

const host = '10.1.0.2';
/** What the services' endpoint and haproxy are reached at; the interface makes it an address of the machine. */
const network = [
  'ip link add v0 type veth peer name v1',
  `ip addr add ${host}/24 dev v0`,
  'ip link set v0 up',
  'ip link set v1 up',
  'ip route add default via 10.1.0.1',
];
const ports = { backend: 9000, haproxy: 9001 } as const;
const clusterIP = '10.96.5.5';
const bulkBytes = 2e9;
const connections = 4_000;
const atOnce = 16;
/** The first use of code is slower than all later ones. */
const warmUp = 1_000;

type Setup = { readonly host: string; readonly port: number };

const [directory = '.'] = process.argv.slice(2);
execFileSync('sh', ['-c', network.join(' && ')]);
process.stdout.write(JSON.stringify(await measure()));
process.exit();

async function measure(): Promise<readonly Figure[]> {
  const backend = spawn(
    process.execPath,
    [fileURLToPath(new URL('./relay-backend.js', import.meta.url)), host, String(ports.backend)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(backend.stdout, 'data');
  const server = await startBinary({ command: 'apiserver', directory });
  await makeService(server.target);
  const proxy = startProxyBinary(join(directory, 'kubeconfig'), 'userspace');
  await proxy.nextSync((line) => line.isFull && line.family === 'IPv4');
  const haproxy = startHaproxy();
  await answering({ host, port: ports.haproxy });
  const ours = await cost({ host: clusterIP, port: 80 }, proxy.pid);
  const peer = await cost({ host, port: ports.haproxy }, haproxy.pid ?? 0);
  const direct = await cost({ host, port: ports.backend }, 0);
  haproxy.kill();
  backend.kill();
  await proxy.stop();
  await server.stop();
  return figures(ours, peer, direct);
}

async function makeService(target: Target): Promise<void> {
  const client = await openClient(target, 'http/1.1');
  const post = (path: string, body: object) =>
    client.send(
      prepare(
        { method: 'POST', path, contentType: 'application/json', body: JSON.stringify(body) },
        'http/1.1',
      ),
    );
  await post('/api/v1/namespaces/default/services', {
    metadata: { name: 'relayed' },
    spec: { clusterIP, ports: [{ name: 'p', port: 80, targetPort: ports.backend }] },
  });
  await post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'relayed-1', labels: { 'kubernetes.io/service-name': 'relayed' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: [{ name: 'p', port: ports.backend, protocol: 'TCP' }],
  });
  client.close();
}

function startHaproxy(): ChildProcess {
  const file = join(directory, 'haproxy.cfg');
  const lines = [
    ...['global', '  nbthread 1', '  maxconn 1000'],
    ...['defaults', '  mode tcp', '  option splice-auto'],
    ...['  timeout connect 5s', '  timeout client 60s', '  timeout server 60s'],
    ...['listen relay', `  bind ${host}:${ports.haproxy}`],
    `  server backend ${host}:${ports.backend}`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function answering(setup: Setup): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      return await take(setup, 1);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`Cannot reach ${setup.host}:${setup.port}`);
}

type Cost = {
  /** Of the relay; microseconds. */
  readonly cpuPerGB: number;
  readonly cpuPerConnection: number;
  readonly gigabytesPerSecond: number;
  readonly connectionsPerSecond: number;
};

async function cost(setup: Setup, pid: number): Promise<Cost> {
  const used = (): number => (pid === 0 ? 0 : cpuMicros(pid));
  await take(setup, bulkBytes / 10);
  await takeMany(setup, warmUp);
  const [bulkCpu, bulkBegin] = [used(), performance.now()];
  await take(setup, bulkBytes);
  const bulkSeconds = (performance.now() - bulkBegin) / 1000;
  const [connectCpu, connectBegin] = [used(), performance.now()];
  await takeMany(setup, connections);
  return {
    cpuPerGB: (connectCpu - bulkCpu) / (bulkBytes / 1e9),
    cpuPerConnection: (used() - connectCpu) / connections,
    gigabytesPerSecond: bulkBytes / 1e9 / bulkSeconds,
    connectionsPerSecond: connections / ((performance.now() - connectBegin) / 1000),
  };
}

async function takeMany(setup: Setup, count: number): Promise<void> {
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await take(setup, 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** One connection that carries so many bytes to us. */
function take({ host, port }: Setup, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let taken = 0;
    const socket = connect({
      ...{ host, port },
      onread: {
        buffer: Buffer.alloc(bytes > 1 ? 256 * 1024 : 64),
        callback: (read) => {
          taken += read;
          return true;
        },
      },
    });
    socket.once('connect', () => socket.write(String(bytes)));
    socket.once('error', reject);
    socket.once('end', () => {
      socket.destroy();
      if (taken === bytes) resolve();
      else reject(new Error(`${taken} bytes of ${bytes} came`));
    });
  });
}

function figures(ours: Cost, peer: Cost, direct: Cost): readonly Figure[] {
  const row = 'relay';
  const gigabyte = (one: Cost): number => one.cpuPerGB / 1000;
  return [
    {
      ...{ row, unit: 'ms', value: gigabyte(ours), goal: 600, upstream: 'haproxy 610 ms' },
      ceiling: { value: gigabyte(peer) },
      what: 'userspace relay, CPU for a gigabyte, beside haproxy',
    },
    {
      ...{ row, unit: 'us', value: ours.cpuPerConnection, goal: 70, upstream: 'haproxy 69 us' },
      ceiling: { value: peer.cpuPerConnection },
      what: 'userspace relay, CPU for a connection, beside haproxy',
    },
    ...rates('through the relay', ours, direct),
    ...rates('through haproxy', peer, direct),
  ];
}

function rates(how: string, { gigabytesPerSecond, connectionsPerSecond }: Cost, direct: Cost) {
  const [row, unit] = ['relay', '/s'] as const;
  return [
    {
      ...{ row, unit, value: gigabytesPerSecond * 1000 },
      ceiling: { value: direct.gigabytesPerSecond * 1000 },
      what: `megabytes ${how}, beside a direct connection`,
    },
    {
      ...{ row, unit, value: connectionsPerSecond },
      ceiling: { value: direct.connectionsPerSecond },
      what: `connections ${how}, beside direct ones`,
    },
  ];
}
