// SCTP through a Service, in the modes that carry it: an association from a client outside reaches a pod, by cluster IP, by node
// port and by a balancer's address.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { insideNamespace } from '../../src/host/namespaces.ts';
import { loadCLibrary } from '../../src/host/native.ts';
import { addressBytes } from '../../src/host/netlink/address-bytes.ts';
import { openNetlinkAccess } from '../../src/host/nftables/open-table-access.ts';
import { encodeSocketAddress } from '../../src/host/socket-address.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import { startIptables } from '../../src/proxy/modes/iptables/apply.ts';
import { removeRules } from '../../src/proxy/modes/iptables/apply-cleanup.ts';
import { startIpvs } from '../../src/proxy/modes/ipvs/apply.ts';
import { cleanUpIpvs } from '../../src/proxy/modes/ipvs/apply-cleanup.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { cleanUpNftables, startNftables } from '../../src/proxy/modes/nftables/apply.ts';
import { createServiceLab, nodeIP, type ServiceLab } from '../netns/lab/service-lab.ts';
import { loadModules } from './load-modules.ts';

const stream = 1;
const nonBlocking = 0x800;
const sctp = 132;
const inet = 2;
const podIP = '10.244.1.11';

let lab: ServiceLab;
let listener: number;

before(async () => {
  loadModules();
  lab = await createServiceLab(['10.20.0.100'], [podIP]);
  listener = insideNamespace(lab.pods.path, () => listen(podIP, 9376));
});

after(() => {
  calls().close(listener);
  lab.release();
});

const balancerIP = '203.0.113.20';
const state = exampleState(
  [
    exampleServicePort({
      protocol: 'SCTP',
      nodePort: 30080,
      loadBalancerIPs: [balancerIP],
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
    start: () => startIpvs(options, { namespacePath: lab.node.path }),
    cleanUp: () => cleanUpIpvs('IPv4', { namespacePath: lab.node.path }),
  },
  {
    name: 'nftables',
    start: () => startNftables(options, () => openNetlinkAccess({ namespacePath: lab.node.path })),
    cleanUp: () =>
      cleanUpNftables('IPv4', () => openNetlinkAccess({ namespacePath: lab.node.path })),
  },
  {
    name: 'iptables',
    start: () => startIptables({ ...options, settings: { 'network-namespace': lab.node.path } }),
    cleanUp: () => removeRules('IPv4', lab.node.path),
  },
];
const ways = [
  ['cluster IP', '10.96.0.20', 80],
  ['node port', nodeIP, 30080],
  ['balancer address', balancerIP, 80],
] as const;

for (const { name, start, cleanUp } of cases) {
  test(`${name} carries SCTP to a cluster IP, a node port and a balancer address (API-09, KPX-27)`, async () => {
    const mode = await start();
    await mode.sync(state, { kind: 'full' });
    for (const [way, ip, port] of ways) {
      const socket = insideNamespace(lab.client.path, () => associate(ip, port));
      const accepted = calls().accept(listener, null, null);
      assert.ok(accepted >= 0, `${way}: nothing arrived`);
      calls().close(accepted);
      calls().close(socket);
    }
    await mode.stop();
    await cleanUp();
    // Only the node refuses immediately; other addresses lead nowhere, and a client would retry.
    assert.throws(() => insideNamespace(lab.client.path, () => associate(nodeIP, 30080)));
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
