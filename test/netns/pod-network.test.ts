// Pods on the bridges of two nodes, with real packets: who reaches whom, whose address is seen, and what is left behind.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { bindInside, connectInside, listenInside } from '../../src/host/namespace-sockets.ts';
import { insideNamespace } from '../../src/host/namespaces.ts';
import type { Event } from '../../src/kinds/event/types.ts';
import type { Node } from '../../src/kinds/node/types.ts';
import type { Pod } from '../../src/kinds/pod/types.ts';
import type { ObjectList } from '../parts/harness/api-client.ts';
import { startTwoNodes, type TwoNodes } from './lab/two-nodes.ts';

const limit = { timeout: 60_000 };
const port = 8080;

let pods = 0;
/** Each has a uid of its own. */
function podOf(spec: object = {}, status: object = {}): Pod {
  pods += 1;
  const uid = `00000000-0000-4000-8000-${String(pods).padStart(12, '0')}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${pods}`, namespace: 'default', uid },
    spec: { containers: [], ...spec },
    status,
  } as Pod;
}

const withHostPort = (hostPort: number, more: object = {}): Pod =>
  podOf({
    containers: [
      { name: 'web', ports: [{ containerPort: port, hostPort, protocol: 'TCP', ...more }] },
    ],
  });

/** Answers every connection with the address that it sees. */
async function serve(t: TestContext, path: string, host: string): Promise<void> {
  const server = createServer((socket) => socket.end(plain(socket.remoteAddress)));
  server.listen({ fd: listenInside(path, { host, port }) });
  await once(server, 'listening');
  t.after(() => server.close());
}

const plain = (address = ''): string => address.replace(/^::ffff:/, '');

/** What the server says; throws when it cannot be reached. */
async function ask(path: string, host: string, at = port): Promise<string> {
  const socket: Socket = connectInside(path, { host, port: at });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(5000) });
    return await text(socket);
  } finally {
    socket.destroy();
  }
}

/** Links, routes of ours and tables in a namespace. */
function found(path: string): string {
  const run = (program: string, ...args: readonly string[]): string =>
    insideNamespace(path, () => spawnSync(program, args, { encoding: 'utf8' })).stdout;
  return [
    run('ip', '-o', 'link').replace(/^\d+: (\S+?)(@\S+)?: .*$/gm, '$1'),
    run('ip', 'route', 'show', 'proto', '70'),
    run('ip', '-6', 'route', 'show', 'proto', '70'),
    run('nft', 'list', 'tables'),
  ]
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n');
}

const untouched = 'lo\neth0';

async function startBoth(t: TestContext): Promise<TwoNodes & { a: Agent; b: Agent }> {
  const lab = await startTwoNodes(t);
  const [a, b] = await Promise.all(lab.nodes.map((node) => node.startAgent()));
  assert.ok(a && b);
  return { ...lab, a, b };
}
type Agent = Awaited<ReturnType<TwoNodes['nodes'][0]['startAgent']>>;

test(
  'pods reach each other and their nodes under their own addresses, in both families',
  limit,
  async (t) => {
    const { nodes, a, b } = await startBoth(t);
    const one = await a.add(podOf());
    const two = await a.add(podOf());
    const far = await b.add(podOf());
    assert.deepEqual(
      [one.ips, two.ips, far.ips],
      [
        ['10.244.1.2', 'fd44:0:0:1::2'],
        ['10.244.1.3', 'fd44:0:0:1::3'],
        ['10.244.2.2', 'fd44:0:0:2::2'],
      ],
    );
    for (const family of [0, 1] as const) {
      const own = one.ips[family] ?? '';
      await serve(t, two.namespacePath, two.ips[family] ?? '');
      await serve(t, far.namespacePath, far.ips[family] ?? '');
      assert.equal(await ask(one.namespacePath, two.ips[family] ?? ''), own);
      assert.equal(await ask(one.namespacePath, far.ips[family] ?? ''), own);
      for (const node of nodes) {
        await serve(t, node.path, node.ips[family]);
        assert.equal(await ask(one.namespacePath, node.ips[family]), own, node.name);
        await ask(node.path, far.ips[family] ?? '');
      }
    }
  },
);

test('the outside sees the address of the node', limit, async (t) => {
  const { nodes, outside, a } = await startBoth(t);
  const pod = await a.add(podOf());
  for (const family of [0, 1] as const) {
    await serve(t, outside.path, outside.ips[family]);
    assert.equal(await ask(pod.namespacePath, outside.ips[family]), nodes[0].ips[family]);
  }
});

test('a host port leads to its pod from everywhere, the pod itself included', limit, async (t) => {
  const { nodes, outside, a, b } = await startBoth(t);
  const pod = withHostPort(9000);
  const server = await a.add(pod);
  const beside = await a.add(podOf());
  const far = await b.add(podOf());
  const [node] = nodes;
  for (const family of [0, 1] as const) {
    await serve(t, server.namespacePath, server.ips[family] ?? '');
    const own = node.ips[family];
    assert.equal(await ask(outside.path, own, 9000), outside.ips[family]);
    assert.equal(await ask(beside.namespacePath, own, 9000), beside.ips[family]);
    assert.equal(await ask(far.namespacePath, own, 9000), far.ips[family]);
    await ask(server.namespacePath, own, 9000);
    await ask(node.path, own, 9000);
  }
  await ask(node.path, '127.0.0.1', 9000);
  await a.remove(pod);
  await assert.rejects(ask(outside.path, node.ips[0], 9000));
});

test(
  'a host port of one address answers on that one; one that is taken is refused',
  limit,
  async (t) => {
    const { nodes, outside, a } = await startBoth(t);
    const [node] = nodes;
    const pod = withHostPort(9000, { hostIP: node.ips[0] });
    const server = await a.add(pod);
    await serve(t, server.namespacePath, server.ips[0] ?? '');
    await ask(outside.path, node.ips[0], 9000);
    await assert.rejects(ask(node.path, '127.0.0.1', 9000));
    await assert.rejects(
      a.add(withHostPort(9000)),
      /host port 9000\/TCP: it is in use by pod default\/pod-\d+/,
    );
    await a.remove(pod);
    await a.add(withHostPort(9000));
  },
);

test('pods do not reach the loopback of their node', limit, async (t) => {
  const { nodes, a } = await startBoth(t);
  const [node] = nodes;
  const pod = await a.add(podOf());
  // A pod that does its best: loopback addresses are nothing special to it.
  insideNamespace(pod.namespacePath, () => {
    spawnSync('sysctl', ['-qw', 'net.ipv4.conf.all.route_localnet=1']);
    spawnSync('ip', ['route', 'flush', 'table', 'local', 'dev', 'lo']);
    spawnSync('ip', ['route', 'add', '127.0.0.1', 'via', '10.244.1.1', 'dev', 'eth0']);
  });
  const receiver = await bindInside(node.path, { host: '0.0.0.0', port });
  const sender = await bindInside(pod.namespacePath, { host: pod.ips[0] ?? '', port });
  t.after(() => [receiver, sender].map((socket) => socket.close()));
  const received = once(receiver, 'message');
  // On one way nothing overtakes: had the first come through, it would come first.
  await send(sender, 'to loopback', '127.0.0.1');
  await send(sender, 'to the node', node.ips[0]);
  assert.equal(String((await received)[0]), 'to the node');
});

function send(socket: DatagramSocket, words: string, host: string): Promise<unknown> {
  return new Promise((resolve) => socket.send(words, port, host, resolve));
}

test(
  'a pod that goes takes its link with it, and an agent that stops takes everything',
  limit,
  async (t) => {
    const { nodes, a } = await startBoth(t);
    const pod = podOf();
    await a.add(pod);
    const before = found(nodes[0].path);
    assert.match(before, /^fairlead0\nfpod\w{11}$/m);
    assert.match(
      before,
      /10\.244\.2\.0\/24 via 172\.30\.0\.12[\s\S]*fd44:0:0:2::\/64 via fd30::12/,
    );
    assert.match(before, /table ip fairlead-pods\ntable ip6 fairlead-pods/);
    await a.remove(pod);
    // The kernel clears up in its own time.
    while (/fpod/.test(found(nodes[0].path)));
    await a.add(podOf());
    await a.stop();
    assert.equal(found(nodes[0].path), untouched);
  },
);

test('after kill -9 the next agent clears up, and pods keep their addresses', limit, async (t) => {
  const { nodes, outside, a, b } = await startBoth(t);
  const [node] = nodes;
  const first = podOf();
  const second = withHostPort(9000);
  await a.add(podOf());
  await a.add(first);
  const before = await a.add(second);
  // Something still runs in the namespace of a pod.
  const survivor = insideNamespace(before.namespacePath, () => spawn('sleep', ['60']));
  t.after(() => survivor.kill('SIGKILL'));
  await a.kill();
  assert.match(found(node.path), /fpod/);
  const known = { ...second, status: { podIPs: before.ips.map((ip) => ({ ip })) } } as Pod;
  const again = await node.startAgent([known]);
  assert.doesNotMatch(found(node.path), /fpod/);
  const fresh = await again.add(podOf());
  assert.deepEqual(fresh.ips, ['10.244.1.5', 'fd44:0:0:1::5'], 'not one that is kept');
  const back = await again.add(known);
  assert.deepEqual(back.ips, before.ips);
  await serve(t, back.namespacePath, back.ips[0] ?? '');
  const far = await b.add(podOf());
  assert.equal(await ask(far.namespacePath, back.ips[0] ?? ''), far.ips[0]);
  await ask(outside.path, node.ips[0], 9000);
  await again.stop();
  assert.equal(found(node.path), untouched);
});

test(
  'an address goes to another pod although something holds on to the first',
  limit,
  async (t) => {
    const { a, nodes } = await startBoth(t);
    const first = podOf();
    const before = await a.add(first);
    const survivor = insideNamespace(before.namespacePath, () => spawn('sleep', ['60']));
    t.after(() => survivor.kill('SIGKILL'));
    await a.remove(first);
    const again = await a.add(podOf({}, {}));
    assert.notDeepEqual(again.ips, before.ips);
    // As when all others are in use.
    const known = podOf({}, { podIPs: before.ips.map((ip) => ({ ip })) });
    await a.adopt([known]);
    const taken = await a.add(known);
    assert.deepEqual(taken.ips, before.ips);
    await serve(t, taken.namespacePath, taken.ips[0] ?? '');
    await ask(nodes[0].path, taken.ips[0] ?? '');
    await ask(again.namespacePath, taken.ips[0] ?? '');
  },
);

test('all of it works for an ordinary user, in a user namespace', limit, async (t) => {
  const { nodes, outside, startUserNode } = await startTwoNodes(t);
  const far = await (await nodes[0].startAgent()).add(podOf());
  const agent = await startUserNode();
  const pod = await agent.add(withHostPort(9000));
  assert.deepEqual(pod.ips, ['10.244.3.2', 'fd44:0:0:3::2']);
  for (const family of [0, 1] as const) {
    await serve(t, pod.namespacePath, pod.ips[family] ?? '');
    assert.equal(await ask(far.namespacePath, pod.ips[family] ?? ''), far.ips[family]);
  }
  assert.equal(await ask(outside.path, '172.30.0.13', 9000), outside.ips[0]);
  await serve(t, outside.path, outside.ips[0]);
  assert.equal(await ask(pod.namespacePath, outside.ips[0]), '172.30.0.13');
});

test(
  'a node without podCIDRs is not ready, and only pods on its own network start',
  limit,
  async (t) => {
    const { api, nodes } = await startTwoNodes(t, { withoutRanges: true });
    const [node] = nodes;
    const directory = mkdtempSync(join(tmpdir(), 'node-network-'));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    const agent = await node.runNode(directory);
    const conditions = async (): Promise<string> => {
      const { status } = await api.get<Node>('/api/v1/nodes/node-1');
      const reported =
        status.conditions?.filter(({ type }) => /^(Ready|NetworkUn)/.test(type)) ?? [];
      return reported.map(({ type, status: is }) => `${type}=${is}`).join();
    };
    assert.equal(await conditions(), 'NetworkUnavailable=True,Ready=False');
    const run = (name: string, spec: object): Promise<unknown> =>
      api.post(podPath, {
        metadata: { name },
        spec: { nodeName: node.name, containers: [sleeper], ...spec },
      });
    const until = async (name: string, holds: (pod: Pod) => boolean): Promise<Pod> => {
      for (;;) {
        const pod = await api.get<Pod>(`${podPath}/${name}`);
        if (holds(pod)) return pod;
      }
    };
    const isRunning = ({ status }: Pod): boolean => status.phase === 'Running';
    await run('waiting', {});
    await run('on-host', { hostNetwork: true });
    const onHost = await until('on-host', isRunning);
    assert.deepEqual(
      onHost.status.podIPs?.map(({ ip }) => ip),
      node.ips,
    );
    assert.equal((await until('waiting', () => true)).status.phase, 'Pending');
    await api.patch('/api/v1/nodes/node-1', { spec: { podCIDRs: node.ranges } });
    const pod = await until('waiting', isRunning);
    assert.deepEqual(
      pod.status.podIPs?.map(({ ip }) => ip),
      ['10.244.1.2', 'fd44:0:0:1::2'],
    );
    while ((await conditions()) !== 'NetworkUnavailable=False,Ready=True');
    const events = await api.get<ObjectList<Event>>('/api/v1/namespaces/default/events');
    const reported = events.items.filter(({ involvedObject }) => involvedObject.name === 'waiting');
    assert.equal(reported[0]?.reason, 'NetworkNotReady');
    assert.match(reported[0]?.message ?? '', /^network is not ready: the node has no podCIDRs yet/);
    // Killed, it leaves the pod's process; the next run ends it and gives the pod its address again.
    await agent.kill();
    await node.runNode(directory);
    const again = await until(
      'waiting',
      (one) => (one.status.containerStatuses?.[0]?.restartCount ?? 0) > 0 && isRunning(one),
    );
    assert.deepEqual(again.status.podIPs, pod.status.podIPs);
    for (const name of ['waiting', 'on-host']) {
      await api.send({ method: 'DELETE', path: `${podPath}/${name}?gracePeriodSeconds=1` });
      while ((await api.send({ method: 'GET', path: `${podPath}/${name}` })).status !== 404);
    }
  },
);

const podPath = '/api/v1/namespaces/default/pods';
const sleeper = { name: 'c', image: 'process', command: ['sleep', '1000'] };
