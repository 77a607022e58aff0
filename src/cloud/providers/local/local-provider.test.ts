import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../host/fake-clock.ts';
import type { LoadBalancerIngress, Service } from '../../../kinds/service/types.ts';
import { silentLog } from '../../../observe/log.ts';
import { createMetrics } from '../../../observe/metrics.ts';
import { exampleNode, exampleService } from '../../example.ts';
import { ownerOf, type ProviderWorld, runProviderContract } from '../../provider.contract.ts';
import {
  type Provider,
  type ProviderSettings,
  ProviderSettingsError,
  type ServiceHandler,
  UnmetRequestError,
} from '../../provider.ts';
import { makeLocalProvider } from './local-provider.ts';

const usual: ProviderSettings = {
  loadBalancerPool: '192.0.2.0/29,2001:db8::/126',
  loadBalancerInternalPool: '10.9.0.1-10.9.0.2',
};
const never = new AbortController().signal;

/** The API as far as the provider sees it. */
function createApi() {
  const services = new Map<string, Service>();
  const handlers = new Set<ServiceHandler>();
  return {
    services,
    follow(handler: ServiceHandler): void {
      handlers.add(handler);
      for (const service of services.values()) handler.set(service);
    },
    put(service: Service): Service {
      services.set(service.metadata.uid ?? '', service);
      for (const handler of handlers) handler.set(service);
      return service;
    },
    drop(service: Service): void {
      services.delete(service.metadata.uid ?? '');
      for (const handler of handlers) handler.remove(service);
    },
  };
}

const withIngress = (service: Service, ingress: readonly LoadBalancerIngress[]): Service => ({
  ...service,
  status: { loadBalancer: ingress.length === 0 ? {} : { ingress: [...ingress] } },
});

const make = (api: ReturnType<typeof createApi>, settings = usual): Promise<Provider> =>
  makeLocalProvider(
    {
      clusterName: 'kubernetes',
      settings,
      followServices: api.follow,
      clock: createFakeClock(),
      log: silentLog,
      metrics: createMetrics(),
    },
    never,
  );

async function startWorld(): Promise<ProviderWorld> {
  const api = createApi();
  return {
    makeProvider: () => make(api),
    made: async () =>
      [...api.services.values()]
        .flatMap(({ metadata, status }) =>
          (status.loadBalancer?.ingress ?? []).map(({ ip }) => `${metadata.name} ${ip}`),
        )
        .sort(),
    publish: async (service, ingress) => api.put(withIngress(service, ingress)),
    forget: async (service) => api.drop(service),
    nodes: ['n1', 'n2', 'n3'].map((name, at) => exampleNode(name, `10.0.0.${at + 1}`)),
    stop: () => Promise.resolve(),
  };
}

runProviderContract('local', {
  startWorld,
  changes: [{ title: 'another address', spec: { loadBalancerIP: '192.0.2.5' } }],
  unmet: [
    {
      title: 'an address outside the pool',
      service: exampleService({ spec: { loadBalancerIP: '198.51.100.1' } }),
      says: /"198.51.100.1" from spec.loadBalancerIP: it is not in the external pool of addresses \(192/,
    },
    {
      title: 'an address that is none',
      service: exampleService({ spec: { loadBalancerIP: 'home' } }),
      says: /"home".* is not an IP address/,
    },
    {
      title: 'an address of a family that the Service has not',
      service: exampleService({ spec: { loadBalancerIP: '2001:db8::1' } }),
      says: /not of family IPv6/,
    },
    {
      title: 'two addresses of a family',
      service: exampleService({
        annotations: { 'fairlead.dev/load-balancer-ips': '192.0.2.1, 192.0.2.2' },
      }),
      says: /one address of a family/,
    },
    {
      title: 'a family that the pool has not',
      service: exampleService({
        annotations: { 'fairlead.dev/load-balancer-internal': 'true' },
        spec: { ipFamilies: ['IPv6'] },
      }),
      says: /internal pool has no IPv6 addresses \(--load-balancer-internal-pool\)/,
    },
  ],
});

const ensure = async (provider: Provider, service: Service): Promise<readonly string[]> =>
  (await provider.ensure({ service, nodes: [] }, never)).map(({ ip }) => ip ?? '');

test('local: gives a dual-stack Service an address of each family, in its order', async () => {
  const provider = await make(createApi());
  const service = exampleService({
    spec: { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
  });
  assert.deepEqual(await provider.ensure({ service, nodes: [] }, never), [
    { ip: '2001:db8::1', ipMode: 'VIP' },
    { ip: '192.0.2.1', ipMode: 'VIP' },
  ]);
});

test('local: gives one family where the Service only prefers both and the pool has one', async () => {
  const provider = await make(createApi(), { loadBalancerPool: '192.0.2.1-192.0.2.2' });
  const spec = { ipFamilies: ['IPv4' as const, 'IPv6' as const] };
  const prefers = exampleService({ spec: { ...spec, ipFamilyPolicy: 'PreferDualStack' } });
  const requires = exampleService({
    name: 'strict',
    spec: { ...spec, ipFamilyPolicy: 'RequireDualStack' },
  });
  assert.deepEqual(await ensure(provider, prefers), ['192.0.2.1']);
  await assert.rejects(ensure(provider, requires), /no IPv6 addresses/);
});

test('local: many at once never get the same address, and the last hears that there is none', async () => {
  const provider = await make(createApi());
  const all = Array.from({ length: 7 }, (_, at) => exampleService({ name: `s${at}` }));
  const results = await Promise.allSettled(all.map((one) => ensure(provider, one)));
  const given = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  assert.deepEqual(
    [...given].sort(),
    [1, 2, 3, 4, 5, 6].map((last) => `192.0.2.${last}`),
  );
  const failed = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  assert.equal(failed.length, 1);
  assert.ok(failed[0] instanceof UnmetRequestError);
  assert.equal(failed[0].reason, 'PoolExhausted');
  assert.match(
    failed[0].message,
    /all 6 IPv4 addresses of the external pool \(192.0.2.1-192.0.2.6, 2001:db8::1-2001:db8::3\) are taken/,
  );
});

test('local: tells when an address comes free', async () => {
  const api = createApi();
  const provider = await make(api, { loadBalancerPool: '192.0.2.1' });
  let times = 0;
  provider.onRelief?.(() => {
    times += 1;
  });
  const first = api.put(exampleService({ name: 'first' }));
  api.put(withIngress(first, await provider.ensure({ service: first, nodes: [] }, never)));
  await provider.remove(ownerOf(first), first, never);
  assert.equal(times, 0, 'the Service still says that it has the address');
  await assert.rejects(ensure(provider, exampleService({ name: 'second' })), /are taken/);
  api.drop(first);
  assert.equal(times, 1);
  assert.deepEqual(await ensure(provider, exampleService({ name: 'second' })), ['192.0.2.1']);
});

test('local: addresses stay after a restart, and move when the pool does', async () => {
  const api = createApi();
  const before = await make(api);
  for (const name of ['a', 'b']) {
    const service = exampleService({ name });
    api.put(withIngress(service, await before.ensure({ service, nodes: [] }, never)));
  }
  api.drop(exampleService({ name: 'a' }));
  const b = [...api.services.values()][0] ?? exampleService();
  assert.deepEqual(await ensure(await make(api), b), ['192.0.2.2']);
  const moved = await make(api, { loadBalancerPool: '198.51.100.0/30' });
  assert.deepEqual(await ensure(moved, b), ['198.51.100.1']);
});

test('local: what another implementation has published is not given away', async () => {
  const api = createApi();
  const foreign = exampleService({ name: 'x', spec: { loadBalancerClass: 'example.com/other' } });
  api.put(withIngress(foreign, [{ ip: '192.0.2.1' }]));
  assert.deepEqual(await ensure(await make(api), exampleService()), ['192.0.2.2']);
});

test('local: two that publish one address by mistake are parted', async () => {
  const api = createApi();
  const both = ['a', 'b'].map((name) =>
    api.put(withIngress(exampleService({ name }), [{ ip: '192.0.2.3', ipMode: 'VIP' }])),
  );
  const provider = await make(api);
  const given: string[] = [];
  for (const one of both) {
    const ingress = await provider.ensure({ service: one, nodes: [] }, never);
    api.put(withIngress(one, ingress));
    given.push(ingress[0]?.ip ?? '');
  }
  assert.equal(new Set(given).size, 2);
});

test('local: settings that make no sense are refused, naming the flag', async () => {
  const cases: readonly [ProviderSettings, RegExp][] = [
    [{}, /needs addresses: --load-balancer-pool/],
    [{ loadBalancerPool: '192.0.2.0/33' }, /^--load-balancer-pool makes no sense: "192.0.2.0\/33"/],
    [{ loadBalancerInternalPool: '10.0.0.9-10.0.0.1' }, /internal-pool .* comes after the last/],
    [{ loadBalancerPool: '10.0.0.1-fd00::1' }, /different families/],
    [{ loadBalancerPool: '10.0.0.1-10.0.0.9,10.0.0.9' }, /overlap/],
    [
      { loadBalancerPool: '10.0.0.1-10.0.0.9', loadBalancerInternalPool: '10.0.0.5' },
      /two pools must have no address in common/,
    ],
  ];
  for (const [settings, says] of cases) {
    await assert.rejects(make(createApi(), settings), (error: unknown) => {
      assert.ok(error instanceof ProviderSettingsError);
      assert.match(error.message, says);
      return true;
    });
  }
});
