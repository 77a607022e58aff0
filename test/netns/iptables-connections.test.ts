// Connections through the rules of the iptables mode, and what the rules count, in the real kernel, through both of its interfaces.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { runCommand } from '../../src/host/exec.ts';
import { connectInside, listenInside } from '../../src/host/namespace-sockets.ts';
import { createNamespace } from '../../src/host/namespaces.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress } from '../../src/host/netlink/route-addresses.ts';
import { changeLink } from '../../src/host/netlink/route-links.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import type { Endpoint, ProxyState } from '../../src/proxy/model/state.ts';
import { iptables } from '../../src/proxy/modes/iptables/mode.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { removeOwnLock, takeOwnLock } from './lab/xtables-lock.ts';

type Variant = 'nft' | 'legacy';

const full = { kind: 'full' } as const;
const endpointIP = '10.244.1.11';
const endpoint = { ip: endpointIP, port: 9376, isLocal: true };
const nodePort = 30_080;
const silentIP = '10.244.1.12';
const oneEndpoint = stateOf(endpoint);
const oneOfTwoAnswers = stateOf(endpoint, { ...endpoint, ip: silentIP });

before(takeOwnLock);
after(removeOwnLock);

async function withMode(
  variant: Variant,
  work: (mode: RunningMode, namespacePath: string) => Promise<void>,
  state: ProxyState = oneEndpoint,
): Promise<void> {
  const namespace = createNamespace();
  try {
    const settings = { 'iptables-variant': variant, 'network-namespace': namespace.path };
    const options = { family: 'IPv4', log: silentLog, clock: systemClock, settings } as const;
    const mode = await iptables.start(options, new AbortController().signal);
    await mode.sync(state, full);
    await work(mode, namespace.path);
  } finally {
    namespace.release();
  }
}

function stateOf(...endpoints: readonly Endpoint[]): ProxyState {
  return exampleState(
    [exampleServicePort({ nodePort, clusterEndpoints: endpoints, localEndpoints: endpoints })],
    exampleNode({ nodePortAddresses: 'all' }),
  );
}

/** A namespace that is the whole cluster: its only interface has the endpoints' addresses. */
async function makeReachable(namespacePath: string): Promise<void> {
  const route = await openNetlink({ protocol: 'route', namespacePath });
  await changeLink(route, 'lo', { isUp: true });
  for (const ip of [endpointIP, silentIP]) {
    await addAddress(route, { interface: 'lo', address: `${ip}/32` });
  }
  await route.close();
}

/** The endpoint that answers. */
async function serve(namespacePath: string): Promise<Server> {
  const server = createServer((socket) => socket.end('here'));
  server.listen({ fd: listenInside(namespacePath, { host: endpointIP, port: 9376 }) });
  await once(server, 'listening');
  return server;
}

/** What the node port answers there, or why it does not. */
async function call(namespacePath: string, host: string): Promise<string> {
  const socket = connectInside(namespacePath, { host, port: nodePort });
  try {
    const [said] = (await once(socket, 'data')) as [Buffer];
    return String(said);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
  }
}

for (const variant of ['nft', 'legacy'] as const) {
  test(`each connection draws anew, and fails where no endpoint answers, ${variant} (IPT-14, KPX-57)`, () =>
    withMode(
      variant,
      async (_, namespacePath) => {
        await makeReachable(namespacePath);
        const server = await serve(namespacePath);
        const answers = new Set<string>();
        // All the same sixty times: as likely as a coin that shows one side only.
        for (let n = 0; n < 60; n += 1) answers.add(await call(namespacePath, '127.0.0.1'));
        server.close();
        assert.deepEqual([...answers].sort(), ['ECONNREFUSED', 'here']);
      },
      oneOfTwoAnswers,
    ));

  test(`packets that were dropped as invalid are counted, ${variant} (IPT-13)`, () =>
    withMode(variant, async (mode, namespacePath) => {
      assert.equal((await mode.packets?.())?.invalidDropped, 0);
      const rule = '-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP';
      await runCommand({
        argv: [`iptables-${variant}-restore`, '--noflush', '--counters'],
        namespacePath,
        stdin: `*filter\n:KUBE-FORWARD - [0:0]\n[7:420] ${rule}\nCOMMIT\n`,
      });
      assert.equal((await mode.packets?.())?.invalidDropped, 7);
    }));

  test(`connections to node ports on the loopback are counted, and no others, ${variant} (IPT-09, IPT-13)`, () =>
    withMode(variant, async (mode, namespacePath) => {
      await makeReachable(namespacePath);
      const server = await serve(namespacePath);
      for (const host of ['127.0.0.1', endpointIP, '127.0.0.1']) {
        assert.equal(await call(namespacePath, host), 'here');
      }
      server.close();
      assert.deepEqual(await mode.packets?.(), { invalidDropped: 0, loopbackAccepted: 2 });
    }));
}
