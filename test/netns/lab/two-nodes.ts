// Two nodes of a cluster as network namespaces on one link, the outside world beside them, and an agent on each that gives
// pods their network. All of it ends with the test.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listenInside } from '../../../src/host/namespace-sockets.ts';
import { createNamespace, insideNamespace } from '../../../src/host/namespaces.ts';
import { type Netlink, openNetlink } from '../../../src/host/netlink/netlink.ts';
import { addAddress } from '../../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink } from '../../../src/host/netlink/route-links.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { PodAttachment } from '../../../src/node/network/pod-network.ts';
import type { ApiClient } from '../../parts/harness/api-client.ts';
import {
  type MemoryServer,
  startMemoryServer,
  testCredentials,
} from '../../parts/harness/memory-server.ts';
import type { AgentAnswer, AgentOrder } from './pod-network-agent.ts';

export type LabAgent = {
  readonly process: ChildProcess;
  readonly add: (pod: Pod) => Promise<Required<PodAttachment>>;
  readonly adopt: (pods: readonly Pod[]) => Promise<void>;
  readonly remove: (pod: Pod) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** As a machine that loses power, but for the machine. */
  readonly kill: () => Promise<void>;
};

export type LabNode = {
  readonly name: string;
  readonly path: string;
  readonly ips: readonly [string, string];
  readonly ranges: readonly [string, string];
  readonly startAgent: (pods?: readonly Pod[]) => Promise<LabAgent>;
  /** The whole node agent. */
  readonly runNode: (directory: string) => Promise<LabAgent>;
};

export type TwoNodes = {
  readonly api: ApiClient;
  /** Outside the cluster, with an address on the link. */
  readonly outside: { readonly path: string; readonly ips: readonly [string, string] };
  readonly nodes: readonly [LabNode, LabNode];
  /** Another node, whose agent has no rights but in a user namespace of its own. */
  readonly startUserNode: () => Promise<LabAgent>;
};

const outsideIPs = ['172.30.0.1', 'fd30::1'] as const;

type Lab = {
  readonly server: MemoryServer;
  /** What is done at the end, the last first. */
  readonly cleanups: (() => unknown)[];
  /** Of the link's namespace. */
  readonly route: Netlink;
};

/** With `withoutRanges` the nodes have no podCIDRs and no objects. */
export async function startTwoNodes(
  t: TestContext,
  { withoutRanges = false }: { readonly withoutRanges?: boolean } = {},
): Promise<TwoNodes> {
  const server = await startMemoryServer({
    access: { admissionPlugins: { disable: ['ServiceAccount'] } },
  });
  const cleanups: (() => unknown)[] = [() => server.stop()];
  t.after(async () => {
    for (const clean of cleanups.reverse()) await clean();
  });
  const namespace = (): string => {
    const { path, release } = createNamespace();
    cleanups.push(release);
    return path;
  };
  const lan = namespace();
  const route = await openNetlink({ protocol: 'route', namespacePath: lan });
  cleanups.push(route.close);
  await addLink(route, { kind: 'bridge', name: 'lan' });
  await changeLink(route, 'lan', { isUp: true });
  await address(route, 'lan', outsideIPs);
  const lab: Lab = { server, cleanups, route };
  const make = async (number: number): Promise<LabNode> => {
    const node = await makeNode(lab, number, { path: namespace(), withoutRanges });
    return { ...node, ...agentsOf(lab, node) };
  };
  return {
    api: server.api,
    outside: { path: lan, ips: outsideIPs },
    nodes: [await make(1), await make(2)],
    async startUserNode() {
      const agent = await startProcess(forkInUserNamespace);
      cleanups.push(agent.kill);
      const path = `/proc/${agent.process.pid}/ns/net`;
      const { name, ips } = await makeNode(lab, 3, { path, withoutRanges });
      // Before its way to the server is closed, which waits for it.
      cleanups.push(agent.kill);
      await agent.order({ ...meeting(lab, name, ips), kind: 'start', pods: [] });
      return agent;
    },
  };
}

type NodeNetwork = Omit<LabNode, 'startAgent' | 'runNode'>;

async function makeNode(
  { server, cleanups, route }: Lab,
  number: number,
  { path, withoutRanges }: { readonly path: string; readonly withoutRanges: boolean },
): Promise<NodeNetwork> {
  const name = `node-${number}`;
  const ips = [`172.30.0.1${number}`, `fd30::1${number}`] as const;
  const ranges = [`10.244.${number}.0/24`, `fd44:0:0:${number}::/64`] as const;
  await addLink(route, { kind: 'veth', name, peer: { name: 'eth0', namespacePath: path } });
  await changeLink(route, name, { master: 'lan', isUp: true });
  const inside = await openNetlink({ protocol: 'route', namespacePath: path });
  await changeLink(inside, 'lo', { isUp: true });
  await changeLink(inside, 'eth0', { isUp: true });
  await address(inside, 'eth0', ips);
  await inside.close();
  if (!withoutRanges) await server.api.post('/api/v1/nodes', nodeObject(name, ips, ranges));
  cleanups.push(await relay(path, server.server.address.port));
  return { name, path, ips, ranges };
}

function agentsOf(lab: Lab, node: NodeNetwork): Pick<LabNode, 'startAgent' | 'runNode'> {
  const { name, path, ips } = node;
  const start = async (order: AgentOrder): Promise<LabAgent> => {
    const agent = await startProcess((program) =>
      insideNamespace(path, () => fork(program, { stdio: 'inherit' })),
    );
    lab.cleanups.push(agent.kill);
    await agent.order(order);
    return agent;
  };
  const whom = meeting(lab, name, ips);
  return {
    startAgent: (pods = []) => start({ ...whom, kind: 'start', pods }),
    runNode: (directory) => start({ ...whom, kind: 'run-node', directory }),
  };
}

function meeting({ server }: Lab, nodeName: string, nodeIPs: readonly string[]) {
  return { connection: connectionTo(server.server.address.port), nodeName, nodeIPs };
}

async function address(
  route: Netlink,
  link: string,
  [ipv4, ipv6]: readonly [string, string],
): Promise<void> {
  await addAddress(route, { interface: link, address: `${ipv4}/24` });
  await addAddress(route, {
    interface: link,
    address: `${ipv6}/64`,
    skipsDuplicateDetection: true,
  });
}

function nodeObject(name: string, ips: readonly string[], podCIDRs: readonly string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { podCIDR: podCIDRs[0], podCIDRs },
    status: { addresses: ips.map((ip) => ({ type: 'InternalIP', address: ip })) },
  };
}

/** The API server is on the machine's own loopback; nodes find it on theirs. */
export async function relay(path: string, port: number): Promise<() => Promise<void>> {
  const server: Server = createServer((socket) => {
    const onward = connect({ host: '127.0.0.1', port });
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  server.listen({ fd: listenInside(path, { host: '127.0.0.1', port }) });
  await once(server, 'listening');
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

function connectionTo(port: number) {
  const { authority, administrator } = testCredentials();
  return {
    server: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    clientCertificate: administrator.certificate,
    clientKey: administrator.privateKey,
    namespace: 'default',
    skipTlsVerification: false,
  };
}

type AgentProcess = LabAgent & { readonly order: (order: AgentOrder) => Promise<unknown> };

function forkInUserNamespace(program: string): ChildProcess {
  const shell = ['--user', '--map-root-user', '--net', '--', process.execPath];
  return fork(program, { stdio: 'inherit', execPath: 'unshare', execArgv: shell });
}

async function startProcess(start: (program: string) => ChildProcess): Promise<AgentProcess> {
  const child = start(fileURLToPath(new URL('./pod-network-agent.js', import.meta.url)));
  const exited = once(child, 'exit');
  // Its first word says that it is where it should be.
  await once(child, 'message');
  const order = async (message: AgentOrder): Promise<unknown> => {
    child.send(message);
    const [answer] = (await once(child, 'message')) as [AgentAnswer];
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.result;
  };
  return {
    process: child,
    order,
    add: async (pod) => (await order({ kind: 'add', pod })) as Required<PodAttachment>,
    adopt: async (pods) => {
      await order({ kind: 'adopt', pods });
    },
    remove: async (pod) => {
      await order({ kind: 'remove', uid: pod.metadata.uid ?? '' });
    },
    stop: async () => {
      await order({ kind: 'stop' });
      await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
