// Interfaces, addresses and routes in namespaces of this process, checked with iproute2's own reading of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { createNamespace, type HeldNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import { type Netlink, openNetlink } from '../../src/host/netlink/netlink.ts';
import { NetlinkError } from '../../src/host/netlink/netlink-error.ts';
import {
  addAddress,
  deleteAddress,
  listAddresses,
} from '../../src/host/netlink/route-addresses.ts';
import {
  addLink,
  changeLink,
  deleteLink,
  findLink,
  listLinks,
  setHairpin,
} from '../../src/host/netlink/route-links.ts';
import {
  addRoute,
  deleteRoute,
  listRoutes,
  replaceRoute,
} from '../../src/host/netlink/route-routes.ts';

let node: HeldNamespace;
let pod: HeldNamespace;
let nodeRoutes: Netlink;
let podRoutes: Netlink;

before(async () => {
  node = createNamespace();
  pod = createNamespace();
  nodeRoutes = await openNetlink({ protocol: 'route', namespacePath: node.path });
  podRoutes = await openNetlink({ protocol: 'route', namespacePath: pod.path, thread: 'own' });
  await addLink(nodeRoutes, { name: 'bridge0', kind: 'bridge' });
  await addLink(nodeRoutes, {
    name: 'pod1',
    kind: 'veth',
    mtu: 1400,
    peer: { name: 'eth0', namespacePath: pod.path, macAddress: '02:00:00:00:00:07' },
  });
  await changeLink(nodeRoutes, 'pod1', { master: 'bridge0', isUp: true });
  await changeLink(nodeRoutes, 'bridge0', { isUp: true });
  await changeLink(podRoutes, 'eth0', { isUp: true });
});

after(async () => {
  await nodeRoutes.close();
  await podRoutes.close();
  node.release();
  pod.release();
});

test('a new namespace has nothing but its loopback, and the caller is where it was', async () => {
  const fresh = createNamespace();
  const inside = await openNetlink({ protocol: 'route', namespacePath: fresh.path });
  assert.deepEqual(
    (await listLinks(inside)).map((link) => [link.name, link.isLoopback, link.isUp]),
    [['lo', true, false]],
  );
  await inside.close();
  fresh.release();
  const outside = await openNetlink({ protocol: 'route' });
  assert.notDeepEqual(await listLinks(outside), []);
  assert.equal((await findLink(outside, 'bridge0'))?.kind, undefined);
  await outside.close();
});

test('links: a veth between two namespaces, one end in a bridge', async () => {
  const bridge = await findLink(nodeRoutes, 'bridge0');
  const port = await findLink(nodeRoutes, 'pod1');
  const peer = await findLink(podRoutes, 'eth0');
  assert.deepEqual([bridge?.kind, bridge?.isUp], ['bridge', true]);
  assert.deepEqual([port?.kind, port?.mtu, port?.masterIndex], ['veth', 1400, bridge?.index]);
  assert.equal(port?.peerIndex, peer?.index);
  assert.equal(peer?.macAddress, '02:00:00:00:00:07');
  assert.deepEqual(
    ip(node, 'link', 'show', 'pod1').map((link) => link.master),
    ['bridge0'],
  );
});

test('setHairpin() is seen by the bridge', async () => {
  await setHairpin(nodeRoutes, 'pod1', true);
  assert.equal(hairpinOf('pod1'), true);
  await setHairpin(nodeRoutes, 'pod1', false);
  assert.equal(hairpinOf('pod1'), false);
});

test('changeLink() renames, takes out of the bridge and moves to another namespace', async () => {
  await addLink(nodeRoutes, { name: 'a0', kind: 'veth', peer: { name: 'a1' } });
  await changeLink(nodeRoutes, 'a0', { master: 'bridge0' });
  await changeLink(nodeRoutes, 'a0', { master: '', name: 'b0', mtu: 1300 });
  const renamed = await findLink(nodeRoutes, 'b0');
  assert.deepEqual([renamed?.mtu, renamed?.masterIndex], [1300, undefined]);
  await changeLink(nodeRoutes, 'b0', { namespacePath: pod.path });
  assert.equal(await findLink(nodeRoutes, 'b0'), undefined);
  assert.equal((await findLink(podRoutes, 'b0'))?.mtu, 1300);
  await deleteLink(podRoutes, 'b0');
  await deleteLink(podRoutes, 'b0');
  assert.equal(await findLink(nodeRoutes, 'a1'), undefined);
});

test('addLink() says what is wrong in the kernel’s words', async () => {
  await assert.rejects(addLink(nodeRoutes, { name: 'bridge0', kind: 'bridge' }), (error) => {
    assert.ok(error instanceof NetlinkError);
    assert.equal(error.code, 'EEXIST');
    assert.match(error.message, /^Cannot add interface "bridge0": EEXIST/);
    return true;
  });
  await assert.rejects(
    addRoute(nodeRoutes, { destination: '10.9.0.0/16', gateway: '10.99.0.1' }),
    (error) => error instanceof NetlinkError && error.explanation !== undefined,
  );
});

test('addresses of both families, added twice and deleted twice', async () => {
  const addresses = ['10.1.0.1/24', 'fd00:1::1/64'];
  for (const address of [...addresses, ...addresses]) {
    await addAddress(nodeRoutes, {
      interface: 'bridge0',
      address,
      skipsDuplicateDetection: true,
    });
  }
  const listed = await listAddresses(nodeRoutes, { interface: 'bridge0' });
  assert.deepEqual(
    listed
      .filter((entry) => entry.scope === 'global')
      .map((entry) => [entry.family, `${entry.address}/${entry.prefixLength}`, entry.isTentative]),
    [
      ['IPv4', '10.1.0.1/24', false],
      ['IPv6', 'fd00:1::1/64', false],
    ],
  );
  assert.equal(
    ip(node, '-4', 'address', 'show', 'bridge0')[0]?.addr_info?.[0]?.broadcast,
    '10.1.0.255',
  );
  await addAddress(nodeRoutes, { interface: 'bridge0', address: '10.2.0.1' });
  const only4 = await listAddresses(nodeRoutes, { interface: 'bridge0', family: 'IPv4' });
  assert.deepEqual(
    only4.map((entry) => [entry.address, entry.prefixLength]),
    [
      ['10.1.0.1', 24],
      ['10.2.0.1', 32],
    ],
  );
  for (let round = 0; round < 2; round++) {
    await deleteAddress(nodeRoutes, { interface: 'bridge0', address: '10.2.0.1' });
  }
  assert.equal((await listAddresses(nodeRoutes, { family: 'IPv4' })).length, 1);
});

test('routes of both families: add, replace, delete, list', async () => {
  await addAddress(podRoutes, { interface: 'eth0', address: '10.1.0.7/24' });
  await addAddress(podRoutes, {
    interface: 'eth0',
    address: 'fd00:1::7/64',
    skipsDuplicateDetection: true,
  });
  const index = (await findLink(podRoutes, 'eth0'))?.index ?? 0;
  await addRoute(podRoutes, { destination: '0.0.0.0/0', gateway: '10.1.0.1' });
  await addRoute(podRoutes, { destination: '::/0', gateway: 'fd00:1::1', metric: 500 });
  await addRoute(podRoutes, { destination: '10.96.0.0/16', interfaceIndex: index });
  await replaceRoute(podRoutes, {
    destination: '10.96.0.0/16',
    gateway: '10.1.0.2',
    preferredSource: '10.1.0.7',
  });
  await addRoute(podRoutes, { destination: '10.97.0.0/16', type: 'blackhole', table: 1000 });
  await assert.rejects(addRoute(podRoutes, { destination: '0.0.0.0/0', gateway: '10.1.0.3' }), {
    code: 'EEXIST',
  });
  const chosen = (await listRoutes(podRoutes)).filter(
    (route) => route.gateway !== undefined || route.type === 'blackhole',
  );
  const main = 254;
  assert.deepEqual(sorted(chosen), [
    {
      family: 'IPv4',
      type: 'unicast',
      destination: '0.0.0.0/0',
      gateway: '10.1.0.1',
      interfaceIndex: index,
      table: main,
    },
    {
      family: 'IPv4',
      type: 'unicast',
      destination: '10.96.0.0/16',
      gateway: '10.1.0.2',
      preferredSource: '10.1.0.7',
      interfaceIndex: index,
      table: main,
    },
    { family: 'IPv4', type: 'blackhole', destination: '10.97.0.0/16', table: 1000 },
    {
      family: 'IPv6',
      type: 'unicast',
      destination: '::/0',
      gateway: 'fd00:1::1',
      interfaceIndex: index,
      metric: 500,
      table: main,
    },
  ]);
  assert.equal((await listRoutes(podRoutes, { family: 'IPv4', table: 1000 })).length, 1);
  for (let round = 0; round < 2; round++) {
    await deleteRoute(podRoutes, { destination: '10.96.0.0/16' });
    await deleteRoute(podRoutes, { destination: '::/0', metric: 500 });
  }
  assert.deepEqual(
    (await listRoutes(podRoutes, { table: main }))
      .filter((route) => route.gateway !== undefined)
      .map((route) => route.destination),
    ['0.0.0.0/0'],
  );
});

test('openNetlink() in a namespace that is not there fails on either thread', async () => {
  const options = { protocol: 'route', namespacePath: '/run/netns/not-there' } as const;
  await assert.rejects(openNetlink(options), /ENOENT/);
  await assert.rejects(openNetlink({ ...options, thread: 'own' }), /ENOENT/);
});

type IpEntry = {
  readonly master?: string;
  readonly addr_info?: readonly { readonly broadcast?: string }[];
  readonly linkinfo?: { readonly info_slave_data?: { readonly hairpin?: boolean } };
};

function ip(namespace: HeldNamespace, ...args: readonly string[]): readonly IpEntry[] {
  const { stdout } = insideNamespace(namespace.path, () =>
    spawnSync('ip', ['-details', '-json', ...args], { encoding: 'utf8' }),
  );
  return JSON.parse(stdout) as IpEntry[];
}

function hairpinOf(port: string): boolean | undefined {
  return ip(node, 'link', 'show', port)[0]?.linkinfo?.info_slave_data?.hairpin;
}

function sorted<Entry extends { readonly destination: string }>(
  entries: readonly Entry[],
): Entry[] {
  return entries.toSorted((a, b) => (a.destination < b.destination ? -1 : 1));
}
