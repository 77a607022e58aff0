// SCTP through a Service, in the modes that carry it: an association from a client outside reaches a pod, by cluster IP and by node port.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { createNamespace, type HeldNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import { loadCLibrary } from '../../src/host/native.ts';
import { addressBytes } from '../../src/host/netlink/address-bytes.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress } from '../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink } from '../../src/host/netlink/route-links.ts';
import { addRoute } from '../../src/host/netlink/route-routes.ts';
import { openNetlinkAccess } from '../../src/host/nftables/open-table-access.ts';
import { encodeSocketAddress } from '../../src/host/socket-address.ts';
import { silentLog } from '../../src/observe/log.ts';
import { exampleNode, exampleServicePort, exampleState } from '../../src/proxy/example-state.ts';
import { startIpvs } from '../../src/proxy/modes/ipvs/apply.ts';
import { cleanUpIpvs } from '../../src/proxy/modes/ipvs/apply-cleanup.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { cleanUpNftables, startNftables } from '../../src/proxy/modes/nftables/apply.ts';
import { loadModules } from './load-modules.ts';

const stream = 1;
const nonBlocking = 0x800;
const sctp = 132;
const inet = 2;
const nodeIP = '10.20.0.11';
const podIP = '10.244.1.11';

let client: HeldNamespace;
let node: HeldNamespace;
let pod: HeldNamespace;
let listener: number;

before(async () => {
  loadModules();
  [client, node, pod] = [createNamespace(), createNamespace(), createNamespace()];
  await connect(client, '10.20.0.100', nodeIP);
  await connect(pod, podIP, '10.244.1.1');
  insideNamespace(node.path, () => writeFileSync('/proc/sys/net/ipv4/ip_forward', '1'));
  listener = insideNamespace(pod.path, () => listen(podIP, 9376));
});

after(() => {
  calls().close(listener);
  for (const namespace of [client, node, pod]) namespace.release();
});

/** A wire from a namespace to the node, which is its way to everywhere. */
async function connect(from: HeldNamespace, ip: string, gateway: string): Promise<void> {
  const inside = await openNetlink({ protocol: 'route', namespacePath: from.path });
  const onNode = await openNetlink({ protocol: 'route', namespacePath: node.path });
  const name = ip === podIP ? 'pods' : 'eth0';
  await addLink(onNode, { name, kind: 'veth', peer: { name: 'eth0', namespacePath: from.path } });
  for (const link of ['lo', name]) await changeLink(onNode, link, { isUp: true });
  for (const link of ['lo', 'eth0']) await changeLink(inside, link, { isUp: true });
  await addAddress(onNode, { interface: name, address: `${gateway}/24` });
  await addAddress(inside, { interface: 'eth0', address: `${ip}/24` });
  await addRoute(inside, { destination: '0.0.0.0/0', gateway });
  await Promise.all([inside.close(), onNode.close()]);
}

const state = exampleState(
  [
    exampleServicePort({
      protocol: 'SCTP',
      nodePort: 30080,
      clusterEndpoints: [{ ip: podIP, port: 9376, isLocal: true }],
    }),
  ],
  exampleNode({ nodeIPs: [nodeIP], nodePortAddresses: [nodeIP] }),
);

type Case = {
  readonly name: string;
  readonly start: () => Promise<RunningMode>;
  readonly cleanUp: () => Promise<void>;
};
const options = { family: 'IPv4', log: silentLog, clock: systemClock, settings: {} } as const;
const cases: readonly Case[] = [
  {
    name: 'ipvs',
    start: () => startIpvs(options, { namespacePath: node.path }),
    cleanUp: () => cleanUpIpvs('IPv4', { namespacePath: node.path }),
  },
  {
    name: 'nftables',
    start: () => startNftables(options, () => openNetlinkAccess({ namespacePath: node.path })),
    cleanUp: () => cleanUpNftables('IPv4', () => openNetlinkAccess({ namespacePath: node.path })),
  },
];

for (const { name, start, cleanUp } of cases) {
  test(`${name} carries SCTP to a cluster IP and to a node port (IVS-02, NFT-04)`, async () => {
    const mode = await start();
    await mode.sync(state, { kind: 'full' });
    for (const [ip, port] of [
      ['10.96.0.20', 80],
      [nodeIP, 30080],
    ] as const) {
      const socket = insideNamespace(client.path, () => associate(ip, port));
      const accepted = calls().accept(listener, null, null);
      assert.ok(accepted >= 0, `${ip}:${port}: nothing arrived`);
      calls().close(accepted);
      calls().close(socket);
    }
    await mode.stop();
    await cleanUp();
    assert.throws(() => insideNamespace(client.path, () => associate(nodeIP, 30080)));
  });
}

type Calls = Readonly<
  Record<
    'socket' | 'bind' | 'listen' | 'connect' | 'accept' | 'close',
    (...args: unknown[]) => number
  >
>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared !== undefined) return declared;
  const { checked } = loadCLibrary();
  declared = {
    socket: checked('int socket(int domain, int type, int protocol)'),
    bind: checked('int bind(int fd, const void *address, unsigned int length)'),
    listen: checked('int listen(int fd, int backlog)'),
    connect: checked('int connect(int fd, const void *address, unsigned int length)'),
    accept: checked('int accept(int fd, void *address, void *length)'),
    close: checked('int close(int fd)'),
  };
  return declared;
}

function listen(ip: string, port: number): number {
  const socket = calls().socket(inet, stream | nonBlocking, sctp);
  const address = encodeSocketAddress({ address: addressBytes(ip), port });
  calls().bind(socket, address, address.length);
  calls().listen(socket, 8);
  return socket;
}

/** Returns when the association stands; the listener's kernel answers for it. */
function associate(ip: string, port: number): number {
  const socket = calls().socket(inet, stream, sctp);
  const address = encodeSocketAddress({ address: addressBytes(ip), port });
  try {
    calls().connect(socket, address, address.length);
  } catch (error) {
    calls().close(socket);
    throw error;
  }
  return socket;
}
