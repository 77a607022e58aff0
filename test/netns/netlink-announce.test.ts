// A neighbour that believes an address elsewhere must change its mind when it is announced.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress } from '../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink, findLink } from '../../src/host/netlink/route-links.ts';
import { announceAddress } from './lab/announce-address.ts';

const wrong = '02:00:00:00:00:99';

for (const { address, neighbour } of [
  { address: '10.0.0.9', neighbour: '10.0.0.1/24' },
  { address: 'fd00::9', neighbour: 'fd00::1/64' },
]) {
  test(`announceAddress() of ${address} is believed by a neighbour`, async () => {
    const here = createNamespace();
    const there = createNamespace();
    const hereRoutes = await openNetlink({ protocol: 'route', namespacePath: here.path });
    const thereRoutes = await openNetlink({ protocol: 'route', namespacePath: there.path });
    await addLink(hereRoutes, {
      name: 'eth0',
      kind: 'veth',
      peer: { name: 'eth0', namespacePath: there.path },
    });
    await changeLink(hereRoutes, 'eth0', { isUp: true });
    await changeLink(thereRoutes, 'eth0', { isUp: true });
    await addAddress(thereRoutes, {
      interface: 'eth0',
      address: neighbour,
      skipsDuplicateDetection: true,
    });
    const macAddress = (await findLink(hereRoutes, 'eth0'))?.macAddress;
    ip(there.path, 'neigh', 'replace', address, 'lladdr', wrong, 'dev', 'eth0', 'nud', 'stale');
    assert.equal(believed(there.path, address), wrong);

    await announceAddress({ interface: 'eth0', address, namespacePath: here.path });
    // The frame is handed over by another thread of the kernel.
    for (let round = 0; round < 200 && believed(there.path, address) === wrong; round++) {
      await setImmediate();
    }
    assert.equal(believed(there.path, address), macAddress);
    await assert.rejects(
      announceAddress({ interface: 'lo', address, namespacePath: here.path }),
      /"lo" has no hardware address/,
    );
    await hereRoutes.close();
    await thereRoutes.close();
    here.release();
    there.release();
  });
}

function ip(path: string, ...args: readonly string[]): string {
  const result = insideNamespace(path, () => spawnSync('ip', args, { encoding: 'utf8' }));
  assert.equal(result.stderr, '');
  return result.stdout;
}

function believed(path: string, address: string): string | undefined {
  const list = JSON.parse(ip(path, '-json', 'neigh', 'show', address)) as { lladdr?: string }[];
  return list[0]?.lladdr;
}
