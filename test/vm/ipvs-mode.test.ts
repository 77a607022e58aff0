// The ipvs mode on a kernel that has it: what is written, what a restart finds, what goes and what is left alone.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { createFakeClock } from '../../src/host/fake-clock.ts';
import { connectInside, listenInside } from '../../src/host/namespace-sockets.ts';
import { createNamespace, type HeldNamespace } from '../../src/host/namespaces.ts';
import { type Ipvs, openIpvs, type VirtualService } from '../../src/host/netlink/ipvs.ts';
import { type Netlink, openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress, listAddresses } from '../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink, findLink } from '../../src/host/netlink/route-links.ts';
import { openNftables } from '../../src/host/nftables/open-nftables.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import { createRandom, randomState } from '../../src/proxy/model/random-state.ts';
import type { Endpoint, Family, ProxyState } from '../../src/proxy/model/state.ts';
import { startIpvs } from '../../src/proxy/modes/ipvs/apply.ts';
import { cleanUpIpvs } from '../../src/proxy/modes/ipvs/apply-cleanup.ts';
import { probeIpvs } from '../../src/proxy/modes/ipvs/probe.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { loadModules } from './load-modules.ts';

const full = { kind: 'full' } as const;
const families = ['IPv4', 'IPv6'] as const;

type Lab = {
  readonly namespace: HeldNamespace;
  readonly ipvs: Ipvs;
  readonly route: Netlink;
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly start: (family: Family, settings?: Record<string, string>) => Promise<RunningMode>;
  /** Virtual servers with their real servers, as text. */
  readonly servers: () => Promise<readonly string[]>;
  readonly release: () => Promise<void>;
};

async function createLab(): Promise<Lab> {
  const namespace = createNamespace();
  const options = { namespacePath: namespace.path };
  const route = await openNetlink({ ...options, protocol: 'route' });
  await changeLink(route, 'lo', { isUp: true });
  await addLink(route, { name: 'eth0', kind: 'dummy' });
  await changeLink(route, 'eth0', { isUp: true });
  await addAddress(route, { interface: 'eth0', address: '198.51.100.11/24' });
  const ipvs = await openIpvs(options);
  const clock = createFakeClock();
  return {
    namespace,
    ipvs,
    route,
    clock,
    start: (family, settings = {}) =>
      startIpvs({ family, log: silentLog, clock, settings }, options),
    servers: async () => {
      const lines = (await ipvs.listServices()).map(async (service) => {
        const to = await ipvs.listDestinations(service);
        const ends = to.map(({ address, port, weight }) => `${address}:${port}*${weight}`);
        return `${service.protocol} ${service.address}:${service.port} ${ends.sort().join(' ')}`;
      });
      return (await Promise.all(lines)).sort();
    },
    release: async () => {
      await Promise.all([ipvs.close(), route.close()]);
      namespace.release();
    },
  };
}

let lab: Lab;
before(async () => {
  loadModules();
  lab = await createLab();
});
after(() => lab.release());

async function bound(): Promise<readonly string[]> {
  const listed = await listAddresses(lab.route, { interface: 'kube-ipvs0' });
  const index = (await findLink(lab.route, 'kube-ipvs0'))?.index;
  return listed
    .filter(({ interfaceIndex }) => interfaceIndex === index)
    .map(({ address }) => address)
    .sort();
}

const endpoint = (last: number): Endpoint => ({
  ip: `10.244.2.${last}`,
  port: 9376,
  isLocal: false,
});

function web(...endpoints: readonly Endpoint[]): ProxyState {
  const port = exampleServicePort({
    nodePort: 30080,
    clusterEndpoints: endpoints,
    localEndpoints: [],
  });
  return exampleState([port], node);
}
const node = exampleNode({ nodeIPs: ['198.51.100.11'] });
const changed = { kind: 'ports', keys: new Set(['default/web:/TCP']) } as const;

test('the probe finds all it needs, and leaves nothing', async () => {
  for (const family of families) {
    const probe = await probeIpvs(family, { namespacePath: lab.namespace.path });
    assert.equal(probe.works, true, JSON.stringify(probe));
  }
  assert.deepEqual(await lab.servers(), []);
});

test('endpoints come, leave by weight, and are deleted when idle (IVS-01, IVS-02, IVS-07)', async () => {
  const mode = await lab.start('IPv4');
  await mode.sync(web(endpoint(1), endpoint(2)), full);
  assert.deepEqual(await bound(), ['10.96.0.20']);
  await mode.sync(web(endpoint(2), endpoint(3)), changed);
  const both = '10.244.2.1:9376*0 10.244.2.2:9376*1 10.244.2.3:9376*1';
  assert.deepEqual(await lab.servers(), [
    `TCP 10.96.0.20:80 ${both}`,
    `TCP 198.51.100.11:30080 ${both}`,
  ]);
  await mode.sync(web(endpoint(1), endpoint(2), endpoint(3)), changed);
  await mode.sync(web(endpoint(2), endpoint(3)), changed);
  await lab.clock.advance(60_000);
  await mode.isIntact();
  assert.deepEqual(await lab.servers(), [
    'TCP 10.96.0.20:80 10.244.2.2:9376*1 10.244.2.3:9376*1',
    'TCP 198.51.100.11:30080 10.244.2.2:9376*1 10.244.2.3:9376*1',
  ]);
  await mode.stop();
});

test('what listens on all addresses of the node is not met on a service’s (IVS-08)', async () => {
  const { path } = lab.namespace;
  const server = createServer((socket) => socket.destroy());
  server.listen({ fd: listenInside(path, { host: '0.0.0.0', port: 22 }) });
  await once(server, 'listening');
  const meet = async (host: string): Promise<string> => {
    const socket = connectInside(path, { host, port: 22 });
    try {
      await once(socket, 'connect');
      return 'met';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? '';
    } finally {
      socket.destroy();
    }
  };
  assert.deepEqual(await bound(), ['10.96.0.20']);
  assert.equal(await meet('198.51.100.11'), 'met');
  assert.equal(await meet('10.96.0.20'), 'ECONNREFUSED');
  server.close();
  await once(server, 'close');
});

test('a restart changes nothing, and mends what was flushed', async () => {
  const again = await lab.start('IPv4');
  assert.equal((await again.sync(web(endpoint(2), endpoint(3)), full)).changes, 0);
  assert.equal(await again.isIntact(), true);
  for (const service of await lab.ipvs.listServices()) await lab.ipvs.deleteService(service);
  assert.equal(await again.isIntact(), false);
  await again.sync(web(endpoint(2), endpoint(3)), full);
  assert.equal(await again.isIntact(), true);
  assert.equal((await lab.servers()).length, 2);
  await again.stop();
});

test('a virtual server that was not known keeps none of its real servers (IVS-07)', async () => {
  const mode = await lab.start('IPv4');
  await mode.sync(exampleState([], node), full);
  const [address, stale] = ['10.96.0.20', { address: '10.244.2.9', port: 9376, weight: 1 }];
  const unknown = { address, protocol: 'TCP', port: 80, scheduler: 'wrr' } as const;
  await lab.ipvs.addService(unknown);
  await lab.ipvs.addDestination(unknown, stale);
  await mode.sync(web(endpoint(1)), changed);
  const [found] = (await lab.ipvs.listServices()).filter(({ port }) => port === 80);
  assert.equal(found?.scheduler, 'rr');
  assert.deepEqual(await lab.servers(), [
    'TCP 10.96.0.20:80 10.244.2.1:9376*1 10.244.2.9:9376*0',
    'TCP 198.51.100.11:30080 10.244.2.1:9376*1',
  ]);
  await lab.clock.advance(60_000);
  await mode.isIntact();
  assert.equal((await lab.servers())[0], 'TCP 10.96.0.20:80 10.244.2.1:9376*1');
  await mode.stop();
});

test('any state is written, changed into any other, and found again by a restart', async () => {
  for (const family of families) {
    for (let seed = 0; seed < 4; seed += 1) {
      const random = createRandom(seed);
      const first = randomState(random, { family });
      const second = { node: first.node, ports: randomState(random, { family }).ports };
      const mode = await lab.start(family);
      await mode.sync(first, full);
      const keys = new Set([...first.ports.keys(), ...second.ports.keys()]);
      await mode.sync(second, { kind: 'ports', keys });
      assert.equal(await mode.isIntact(), true, `${family}, seed ${seed}`);
      await mode.stop();
      const again = await lab.start(family);
      const { changes } = await again.sync(second, full);
      assert.equal(changes, 0, `${family}, seed ${seed}`);
      await again.stop();
    }
  }
});

test('cleaning up leaves other programs’ servers alone (KPX-52, IVS-10)', async () => {
  const foreign: VirtualService = {
    address: '198.51.100.11',
    protocol: 'TCP',
    port: 8443,
    scheduler: 'wrr',
  };
  await lab.ipvs.addService(foreign);
  const mode = await lab.start('IPv4');
  await mode.sync(web(endpoint(1)), full);
  await mode.stop();
  for (const family of families) {
    await cleanUpIpvs(family, { namespacePath: lab.namespace.path });
    await cleanUpIpvs(family, { namespacePath: lab.namespace.path });
  }
  assert.deepEqual(await lab.servers(), ['TCP 198.51.100.11:8443 ']);
  assert.equal(await findLink(lab.route, 'kube-ipvs0'), undefined);
  const nftables = await openNftables({ namespacePath: lab.namespace.path });
  assert.deepEqual(await nftables.listTables(), []);
  await nftables.close();
});

test('timeouts are set, and a scheduler that is none is refused with words (IVS-03, IVS-13)', async () => {
  const mode = await lab.start('IPv4', { 'ipvs-tcp-timeout': '10m', 'ipvs-scheduler': 'mh' });
  await mode.sync(web(endpoint(1)), full);
  assert.equal((await lab.ipvs.readTimeouts()).tcpSeconds, 600);
  const [service] = (await lab.ipvs.listServices()).filter(({ port }) => port === 80);
  assert.equal(service?.scheduler, 'mh');
  assert.equal(service?.hashesSourcePort, true);
  await mode.stop();
  await assert.rejects(lab.start('IPv4', { 'ipvs-scheduler': 'fair' }), /must be one of rr, wrr/);
});
