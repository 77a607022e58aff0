// A neighbour that asks for an address is answered by a machine that does not have it, and by no other.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress } from '../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink, findLink } from '../../src/host/netlink/route-links.ts';
import { announceAddress } from './lab/announce-address.ts';

const cases = [
  { address: '10.0.0.9', other: '10.0.0.8', neighbour: '10.0.0.1/24' },
  { address: 'fd00::9', other: 'fd00::8', neighbour: 'fd00::1/64' },
];

for (const { address, other, neighbour } of cases) {
  test(`startAnswering() answers for ${address}, and reports a claim of it`, async () => {
    const here = createNamespace();
    const there = createNamespace();
    const hereRoutes = await openNetlink({ protocol: 'route', namespacePath: here.path });
    const thereRoutes = await openNetlink({ protocol: 'route', namespacePath: there.path });
    const peer = { name: 'eth0', namespacePath: there.path };
    await addLink(hereRoutes, { name: 'eth0', kind: 'veth', peer });
    await changeLink(hereRoutes, 'eth0', { isUp: true });
    await changeLink(thereRoutes, 'eth0', { isUp: true });
    const skipsDuplicateDetection = true;
    await addAddress(thereRoutes, {
      interface: 'eth0',
      address: neighbour,
      skipsDuplicateDetection,
    });
    const macAddress = (await findLink(hereRoutes, 'eth0'))?.macAddress;
    // The answering machine is a thread that has stepped inside.
    const machine = new Worker(new URL('./lab/answering-machine.js', import.meta.url), {
      workerData: { path: here.path },
    });
    const nextMessage = async (): Promise<unknown> => (await once(machine, 'message'))[0];
    assert.equal(await nextMessage(), 'ready');
    machine.postMessage({ answerFor: [address], announced: [] });
    assert.equal(await nextMessage(), 'done');
    ask(there.path, other, address);
    assert.equal(await found(there.path, address), macAddress);
    assert.equal(believed(there.path, other), undefined);

    const claim = nextMessage();
    await announceAddress({ interface: 'eth0', address, namespacePath: there.path });
    assert.deepEqual(await claim, { claimed: address });
    machine.postMessage({ stop: true });
    await once(machine, 'exit');
    await hereRoutes.close();
    await thereRoutes.close();
    here.release();
    there.release();
  });
}

const question = `
  const [, ...addresses] = process.argv;
  for (const address of addresses) {
    const socket = require('node:dgram').createSocket(address.includes(':') ? 'udp6' : 'udp4');
    socket.send('x', 9, address, () => socket.close());
  }`;

/** Sends something to the addresses: the kernel has to find out where they are. */
function ask(path: string, ...addresses: readonly string[]): void {
  insideNamespace(path, () => spawnSync(process.execPath, ['-e', question, ...addresses]));
}

/** Where the kernel believes the address to be. */
function believed(path: string, address: string): string | undefined {
  const { stdout } = insideNamespace(path, () =>
    spawnSync('ip', ['-json', 'neigh', 'show', address], { encoding: 'utf8' }),
  );
  return (JSON.parse(stdout || '[]') as { lladdr?: string }[])[0]?.lladdr;
}

/** The answer comes by another thread, and by the kernel's. */
async function found(path: string, address: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const macAddress = believed(path, address);
    if (macAddress !== undefined) return macAddress;
    await setImmediate();
  }
  return undefined;
}
