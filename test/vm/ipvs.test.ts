// IPVS over netlink, checked with the kernel's own list in /proc. Runs in the virtual machine: most kernels of
// build machines have no IPVS.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createNamespace, type HeldNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import { type Ipvs, openIpvs, type VirtualService } from '../../src/host/netlink/ipvs.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { changeLink } from '../../src/host/netlink/route-links.ts';
import { loadModules } from './load-modules.ts';

let namespace: HeldNamespace;
let ipvs: Ipvs;

before(async () => {
  loadModules();
  namespace = createNamespace();
  // A namespace that has never had a route takes no address for one of a host.
  const route = await openNetlink({ protocol: 'route', namespacePath: namespace.path });
  await changeLink(route, 'lo', { isUp: true });
  await route.close();
  ipvs = await openIpvs({ namespacePath: namespace.path });
});

after(async () => {
  await ipvs.close();
  namespace.release();
});

const services: readonly VirtualService[] = [
  { address: '10.96.0.1', protocol: 'TCP', port: 80, scheduler: 'rr' },
  { address: '10.96.0.1', protocol: 'UDP', port: 53, scheduler: 'wrr', persistenceSeconds: 10800 },
  { address: '10.96.0.2', protocol: 'SCTP', port: 9, scheduler: 'mh', hashesSourcePort: true },
  { address: 'fd00:96::1', protocol: 'TCP', port: 80, scheduler: 'rr', persistenceSeconds: 60 },
];

test('services are added, listed, changed and deleted', async () => {
  for (const service of services) await ipvs.addService(service);
  assert.deepEqual((await ipvs.listServices()).sort(byText), services.toSorted(byText));
  assert.deepEqual(kernelList().sort(), [
    'SCTP 0A600002:0009 mh',
    'TCP 0A600001:0050 rr',
    'TCP [fd00:0096:0000:0000:0000:0000:0000:0001]:0050 rr persistent',
    'UDP 0A600001:0035 wrr persistent',
  ]);
  const [first] = services;
  assert.ok(first !== undefined);
  await assert.rejects(ipvs.addService(first), { code: 'EEXIST' });
  await ipvs.changeService({ ...first, scheduler: 'wrr', persistenceSeconds: 5 });
  await ipvs.changeService({ ...first, scheduler: 'wrr' });
  assert.ok(kernelList().includes('TCP 0A600001:0050 wrr'));
  for (const service of services) await ipvs.deleteService(service);
  await assert.rejects(ipvs.deleteService(first), { code: 'ESRCH' });
  assert.deepEqual(await ipvs.listServices(), []);
});

const destinationCases: readonly {
  readonly service: VirtualService;
  readonly address: string;
  readonly other: string;
  readonly printed: string;
}[] = [
  {
    service: { address: '10.96.0.1', protocol: 'TCP', port: 80, scheduler: 'rr' },
    address: '10.0.0.7',
    other: '10.0.0.8',
    printed: '0A000007:1F90',
  },
  {
    service: { address: 'fd00:96::1', protocol: 'UDP', port: 53, scheduler: 'rr' },
    address: 'fd00::7',
    other: 'fd00::8',
    printed: '[fd00:0000:0000:0000:0000:0000:0000:0007]:1F90',
  },
];

for (const { service, address, other, printed } of destinationCases) {
  test(`destinations of ${service.address} are added, listed, changed and deleted`, async () => {
    await ipvs.addService(service);
    assert.deepEqual(await ipvs.listDestinations(service), []);
    await ipvs.addDestination(service, { address, port: 8080, weight: 1 });
    await ipvs.addDestination(service, { address: other, port: 8080, weight: 1 });
    await assert.rejects(ipvs.addDestination(service, { address, port: 8080, weight: 1 }), {
      code: 'EEXIST',
    });
    await ipvs.changeDestination(service, { address, port: 8080, weight: 0 });
    assert.ok(kernelList().includes(`-> ${printed} Masq 0 0 0`));
    await ipvs.deleteDestination(service, { address: other, port: 8080 });
    await assert.rejects(ipvs.deleteDestination(service, { address: other, port: 8080 }), {
      code: 'ENOENT',
    });
    assert.deepEqual(await ipvs.listDestinations(service), [
      { address, port: 8080, weight: 0, activeConnections: 0, inactiveConnections: 0 },
    ]);
    await ipvs.deleteService(service);
  });
}

test('a list names each once while services of another namespace change, and all when they rest', async () => {
  // Several pages of them.
  const many = Array.from({ length: 400 }, (_, n): VirtualService => {
    const address = `10.96.${1 + (n >> 7)}.${1 + (n & 127)}`;
    return { address, protocol: 'TCP', port: 80, scheduler: 'rr' };
  });
  for (const service of many) await ipvs.addService(service);
  const elsewhere = createNamespace();
  const worker = new Worker(new URL('./change-services.js', import.meta.url), {
    workerData: elsewhere.path,
  });
  await once(worker, 'message');
  for (let lists = 0; lists < 20; lists += 1) {
    const addresses = (await ipvs.listServices()).map(({ address }) => address);
    assert.equal(new Set(addresses).size, addresses.length);
    assert.ok(addresses.every((address) => !address.startsWith('10.97.')));
  }
  await worker.terminate();
  assert.equal((await ipvs.listServices()).length, many.length);
  elsewhere.release();
  for (const service of many) await ipvs.deleteService(service);
});

test('timeouts are set, and 0 leaves one as it is', async () => {
  await ipvs.setTimeouts({ tcpSeconds: 700, tcpFinSeconds: 70, udpSeconds: 200 });
  await ipvs.setTimeouts({ tcpSeconds: 0, tcpFinSeconds: 80, udpSeconds: 0 });
  assert.deepEqual(await ipvs.readTimeouts(), {
    tcpSeconds: 700,
    tcpFinSeconds: 80,
    udpSeconds: 200,
  });
});

/** /proc/net/ip_vs without its head, its columns, and a persistence's length, which is in clock ticks. */
function kernelList(): string[] {
  const text = insideNamespace(namespace.path, () =>
    readFileSync('/proc/thread-self/net/ip_vs', 'utf8'),
  );
  return text
    .split('\n')
    .slice(3)
    .map((line) =>
      line
        .trim()
        .replaceAll(/\s+/g, ' ')
        .replace(/(?<=persistent) .*/, ''),
    )
    .filter(Boolean);
}

function byText(a: VirtualService, b: VirtualService): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
