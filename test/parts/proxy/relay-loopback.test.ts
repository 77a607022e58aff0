// Relays on a machine where another user has claimed every loopback address, or listens on one: status and events say so.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { systemClock } from '../../../src/host/clock.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type RelayState, startRelays } from '../../../src/relay/run.ts';
import { claimLoopback } from '../../../src/relay/run-claims.ts';
import { relayLine } from '../../../src/up/status-text.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

let server: MemoryServer;
before(async () => {
  server = await startMemoryServer();
});
after(() => server.stop());

async function listening(t: TestContext, host: string): Promise<number> {
  const echo = createServer((socket) => socket.end('inside')).listen(0, host);
  t.after(() => echo.close());
  await once(echo, 'listening');
  return (echo.address() as AddressInfo).port;
}

/** `claimName` when another user holds all names. */
const heldByOthers = () => Promise.resolve(undefined);

/** The first state in which the relay of this Service is. */
function relayOf(t: TestContext, service: string, inside: number): Promise<RelayState> {
  const send = createLocalCall(server.server.handle, { user: 'test', groups: ['system:masters'] });
  const transport = { send, close: () => Promise.resolve() };
  const stop = new AbortController();
  return new Promise((resolve, reject) => {
    const run = async (): Promise<void> => {
      const options = {
        ...{ caller: { transport, userAgent: 'test' }, clock: systemClock, log: silentLog },
        ...{ nodeAddresses: ['192.0.2.9'], nodePortsOnLoopback: false, allServices: false },
        isForeign: () => false,
        inside: {
          connect: () => connect({ host: '127.0.0.1', port: inside }),
          bind: () => Promise.reject(new Error('This test uses TCP only')),
        },
        loopback: await claimLoopback(heldByOthers),
        changed: (relays: readonly RelayState[]) => {
          const found = relays.find((relay) => relay.service === service);
          if (found !== undefined) resolve(found);
        },
      };
      await startRelays(options, stop.signal);
    };
    const running = run();
    running.catch(reject);
    t.after(async () => {
      stop.abort();
      await running;
    });
  });
}

async function createNodePort(name: string): Promise<number> {
  const service = (await server.api.post('/api/v1/namespaces/default/services', {
    metadata: { name },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  })) as Service;
  return service.spec.ports?.[0]?.nodePort ?? 0;
}

/** Events are written later than the status. */
async function eventOf(name: string): Promise<{ reason: string; message: string }> {
  const path = `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3D${name}`;
  for (;;) {
    const list: unknown = await server.api.get(path);
    const [event] = (list as { items: { reason: string; message: string }[] }).items;
    if (event !== undefined) return event;
  }
}

test('startRelays() uses an address that it could not claim, and reports it as shared in status and event', async (t) => {
  const inside = await listening(t, '127.0.0.1');
  const port = await createNodePort('shared');
  const relay = await relayOf(t, 'default/shared', inside);
  assert.equal(relay.problem, undefined);
  assert.match(relayLine(relay), /^127\.0\.0\.1:\d+\/TCP is the node port .*; other programs/);
  const { reason, message } = await eventOf('shared');
  assert.equal(reason, 'LoopbackAddressShared');
  assert.match(message, new RegExp(`^Its node port is at 127.0.0.1:${port}: other programs`));
  let answer = '';
  for await (const chunk of connect({ host: '127.0.0.1', port })) answer += String(chunk);
  assert.equal(answer, 'inside');
});

test('startRelays() reports a port that another program listens on', async (t) => {
  const inside = await listening(t, '127.0.0.1');
  const port = await createNodePort('taken');
  const other = createServer((socket) => socket.end('other')).listen(port, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const relay = await relayOf(t, 'default/taken', inside);
  assert.match(relay.problem ?? '', /EADDRINUSE/);
  assert.match(relayLine(relay), /cannot be the node port of default\/taken/);
  const { reason, message } = await eventOf('taken');
  assert.equal(reason, 'RelayListenFailed');
  assert.match(message, /EADDRINUSE/);
});
