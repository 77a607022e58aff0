// Names of pods, end to end: the slice controller writes slices, DNS answers from them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { endpointSliceController } from '../../../src/controllers/endpoint-slice/run.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import type { DnsOptions } from '../../../src/dns/run.ts';
import { silentLog } from '../../../src/observe/log.ts';
import type { ApiClient } from '../harness/api-client.ts';
import {
  serviceObject,
  services,
  sliceObject,
  slices,
  startApi,
  startDnsHarness,
  switchedTransport,
} from '../harness/dns-harness.ts';

const limit = { timeout: 60_000 };
const at = '/api/v1/namespaces/default';
const c = (name: string) => ({ name: `${name}.default.svc.cluster.local` });
const headless = {
  clusterIP: 'None',
  selector: { app: 'db' },
  ports: [{ name: 'pg', port: 5432 }],
};

async function start(t: TestContext, options: Partial<DnsOptions> = {}) {
  const server = await startApi(t);
  const stopping = new AbortController();
  const identity = { user: 'controllers', groups: ['system:masters'] };
  const running = startControllers({
    transport: {
      send: createLocalCall(server.server.handle, identity),
      close: () => Promise.resolve(),
    },
    controllers: [endpointSliceController],
    log: silentLog,
    authorityCertificate: '',
    signal: stopping.signal,
  });
  t.after(async () => {
    stopping.abort();
    await running;
  });
  const { api } = server;
  await api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
  const harness = await startDnsHarness(t, switchedTransport(server), options);
  await harness.dns.synced;
  return { ...harness, api };
}

type PodParts = { readonly spec?: object; readonly ready?: boolean };

async function addPod(
  api: ApiClient,
  name: string,
  ip: string,
  { spec, ready = true }: PodParts = {},
): Promise<void> {
  await api.post(`${at}/pods`, {
    metadata: { name, labels: { app: 'db' }, finalizers: ['example.com/hold'] },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...spec },
  });
  const conditions = [
    { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  await api.patch(`${at}/pods/${name}/status`, {
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions },
  });
}

test(
  'a pod with hostname and subdomain has a name below that Service only (DNS-08, DNS-09, CNF-08)',
  limit,
  async (t) => {
    const { api, ask, until } = await start(t);
    await addPod(api, 'db-0', '10.1.0.1', { spec: { hostname: 'db-0', subdomain: 'db' } });
    await addPod(api, 'db-1', '10.1.0.2', { spec: { hostname: 'db-1' } });
    await addPod(api, 'db-2', '10.1.0.3', { spec: { subdomain: 'db' } });
    for (const name of ['db', 'other']) await api.post(services, serviceObject(name, headless));
    for (const name of ['db', 'other']) await until(c(name), ({ lines }) => lines.length === 4);
    const found = async (name: string) => (await ask(c(name))).lines;
    assert.deepEqual(await found('db-0.db'), ['NOERROR aa', '30 A 10.1.0.1']);
    for (const name of ['db-1.db', 'db-2.db', 'db-0.other']) {
      assert.deepEqual(await found(name), ['NXDOMAIN aa'], name);
    }
    assert.deepEqual(await found('10-1-0-2.db'), ['NOERROR aa', '30 A 10.1.0.2']);
  },
);

for (const publishNotReadyAddresses of [true, false]) {
  const what = publishNotReadyAddresses ? 'have names where asked for' : 'have none otherwise';
  test(`pods that are not ready, or terminate, ${what} (DNS-10)`, limit, async (t) => {
    const { api, until } = await start(t);
    await addPod(api, 'up', '10.1.0.1');
    await addPod(api, 'down', '10.1.0.2', { ready: false });
    await addPod(api, 'going', '10.1.0.3');
    await api.delete(`${at}/pods/going`);
    await api.post(services, serviceObject('db', { ...headless, publishNotReadyAddresses }));
    const wanted = publishNotReadyAddresses ? ['10.1.0.1', '10.1.0.2', '10.1.0.3'] : ['10.1.0.1'];
    // The controller may observe the Service before all of the pods.
    const all = ['NOERROR aa', ...wanted.map((ip) => `30 A ${ip}`)].join();
    await until(c('db'), ({ lines }) => lines.join() === all);
  });
}

test('the programming latency of headless Services is measured (DNS-34)', limit, async (t) => {
  const { api, until, status } = await start(t);
  await api.post(services, serviceObject('db', headless));
  await addPod(api, 'db-0', '10.1.0.1');
  await until(c('db'), ({ lines }) => lines.length === 2);
  const text = await (await fetch(`http://127.0.0.1:${status.port}/metrics`)).text();
  assert.match(
    text,
    /^coredns_kubernetes_dns_programming_duration_seconds_count\{service_kind="headless_with_selector"\} [1-9]/m,
  );
});

test('without watching endpoints they have no names (DNS-33)', limit, async (t) => {
  const { api, ask, until } = await start(t, { watchEndpoints: false });
  await addPod(api, 'db-0', '10.1.0.1');
  await api.post(services, serviceObject('db', headless));
  await api.post(services, serviceObject('web', { ...headless, clusterIP: '10.96.7.7' }));
  await until(c('web'), ({ lines }) => lines[1] === '30 A 10.96.7.7');
  for (const name of ['db', '10-1-0-1.db', '10-1-0-1.web']) {
    assert.deepEqual((await ask(c(name))).lines, ['NXDOMAIN aa'], name);
  }
});

const shown = { labels: { tier: 'public' } };
const selections: readonly [string, Partial<DnsOptions>][] = [
  ['labels', { labelSelector: 'tier=public' }],
  ['namespaces', { namespaces: ['shop', 'none'] }],
  ['labels of namespaces', { namespaceSelector: 'tier=public' }],
];

for (const [by, options] of selections) {
  test(`objects excluded by ${by} have no forward and reverse names (DNS-26)`, limit, async (t) => {
    const { api, ask, until } = await start(t, options);
    const inShop = (path: string) => path.replace('/default/', '/shop/');
    await api.post('/api/v1/namespaces', { metadata: { name: 'shop', ...shown } });
    const add = async (where: (path: string) => string, more: object, last: number) => {
      const spec = { clusterIP: `10.96.7.${last}`, ports: [{ port: 80 }] };
      const object = serviceObject('web', spec);
      await api.post(where(services), { ...object, metadata: { name: 'web', ...more } });
      const made = sliceObject('web', [`10.1.0.${last}`]);
      const labels = {
        'kubernetes.io/service-name': 'web',
        ...('labels' in more ? shown.labels : {}),
      };
      await api.post(where(slices), { ...made, metadata: { name: 'web-x', labels } });
    };
    await add((path) => path, {}, 1);
    await add(inShop, shown, 2);
    const shop = { name: 'web.shop.svc.cluster.local' };
    await until(shop, ({ lines }) => lines[1] === '30 A 10.96.7.2');
    const back = (last: string) => ({ name: `${last}.in-addr.arpa`, type: 'PTR' as const });
    await until(back('2.0.1.10'), ({ lines }) => lines.length === 2);
    assert.deepEqual((await ask(c('web'))).lines, ['NXDOMAIN aa']);
    for (const last of ['1.0.1.10', '1.7.96.10']) {
      assert.deepEqual((await ask(back(last))).lines.slice(1), [], last);
    }
  });
}
