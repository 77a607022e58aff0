// Sockets made inside a namespace and used by Node from outside; a thread that moves inside for good.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { bindInside, connectInside, listenInside } from '../../src/host/namespace-sockets.ts';
import { createNamespace, enterNamespace, type HeldNamespace } from '../../src/host/namespaces.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress } from '../../src/host/netlink/route-addresses.ts';
import { changeLink } from '../../src/host/netlink/route-links.ts';
import { SystemCallError } from '../../src/host/system-call-error.ts';

let inside: HeldNamespace;

before(async () => {
  inside = createNamespace();
  const route = await openNetlink({ protocol: 'route', namespacePath: inside.path });
  await changeLink(route, 'lo', { isUp: true });
  // Addresses that only this namespace has.
  await addAddress(route, { interface: 'lo', address: '198.51.100.1/32' });
  await addAddress(route, {
    interface: 'lo',
    address: '2001:db8::1/128',
    skipsDuplicateDetection: true,
  });
  await route.close();
});

after(() => inside.release());

for (const host of ['198.51.100.1', '2001:db8::1']) {
  test(`a server and a connection inside meet, over ${host}`, async () => {
    const server = createServer((socket) => socket.pipe(socket));
    server.listen({ fd: listenInside(inside.path, { host, port: 0 }) });
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    const client = connectInside(inside.path, { host, port });
    client.end('hello');
    assert.equal(await everything(client), 'hello');
    server.close();
    await once(server, 'close');
  });

  test(`datagrams inside reach each other, over ${host}`, async () => {
    const [one, other] = [
      await bindInside(inside.path, { host, port: 0 }),
      await bindInside(inside.path, { host, port: 0 }),
    ];
    one.send('hello', other.address().port, host);
    const [message] = await once(other, 'message');
    assert.equal(String(message), 'hello');
    one.close();
    other.close();
  });
}

test('what is not there is refused as with net.connect', async () => {
  const client = connectInside(inside.path, { host: '198.51.100.1', port: 9 });
  await assert.rejects(once(client, 'connect'), { code: 'ECONNREFUSED' });
});

test('an address of another namespace cannot be listened on', () => {
  assert.throws(
    () => listenInside(inside.path, { host: '203.0.113.9', port: 0 }),
    (error: unknown) => error instanceof SystemCallError && error.code === 'EADDRNOTAVAIL',
  );
});

test('a thread that entered stays inside, and so do the threads that it starts', async () => {
  const script = `
    import { networkInterfaces } from 'node:os';
    import { parentPort, workerData, Worker } from 'node:worker_threads';
    const { enterNamespace } = await import(workerData.module);
    enterNamespace(workerData.path);
    const own = Object.keys(networkInterfaces());
    const child = new Worker(
      "require('node:worker_threads').parentPort.postMessage(Object.keys(require('node:os').networkInterfaces()))",
      { eval: true },
    );
    child.once('message', (childs) => parentPort.postMessage({ own, childs }));
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  const workerData = {
    module: new URL('../../src/host/namespaces.js', import.meta.url).href,
    path: inside.path,
  };
  const worker = new Worker(url, { workerData });
  const [seen] = await once(worker, 'message');
  await worker.terminate();
  assert.deepEqual(seen, { own: ['lo'], childs: ['lo'] });
  assert.equal(typeof enterNamespace, 'function');
  assert.notDeepEqual(
    Object.values(networkInterfaces())
      .flat()
      .map((one) => one?.address),
    ['198.51.100.1'],
  );
});

async function everything(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}
