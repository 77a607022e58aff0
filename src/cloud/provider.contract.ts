// What every provider must do, as tests. A provider's own test calls runProviderContract with a world to work in.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../kinds/node/types.ts';
import type { LoadBalancerIngress, Service } from '../kinds/service/types.ts';
import { examplePort, exampleService } from './example.ts';
import { type Owner, type Provider, RetryLaterError, UnmetRequestError } from './provider.ts';

/** Where a provider works: a cloud that is emulated, or the Services themselves. */
export type ProviderWorld = {
  /** A provider that remembers nothing: the first, or the next after a crash. */
  readonly makeProvider: () => Promise<Provider>;
  /**
   * All that stands there for Services, one line each, sorted, and without what is drawn at random: worlds with the
   * same lines are the same. Empty at first. What belongs to others is no part of it.
   */
  readonly made: () => Promise<readonly string[]>;
  /** The Service is in the API now, and says this of its balancer; returns it as it stands there. */
  readonly publish: (service: Service, ingress: readonly LoadBalancerIngress[]) => Promise<Service>;
  /** The Service is no longer in the API. */
  readonly forget: (service: Service) => Promise<void>;
  /** At least three, that the provider can use. */
  readonly nodes: readonly Node[];
  /** The names of the nodes behind the balancer, sorted; absent where a provider keeps no such list. */
  readonly hostsOf?: (service: Service) => Promise<readonly string[]>;
  /** Lets so many calls to the world pass and the one after them fail; absent where there are no calls. */
  readonly failAfter?: (calls: number) => void;
  /** Whether that call has failed since; ends the waiting for it. */
  readonly hasFailed?: () => boolean;
  /** Puts things there that are not ours but look like it; returns whether all of them are still as they were. */
  readonly addForeign?: (owner: Owner) => Promise<() => Promise<boolean>>;
  readonly stop: () => Promise<void>;
};

export type UnmetCase = {
  readonly title: string;
  readonly service: Service;
  /** What the explanation must say. */
  readonly says: RegExp;
};

export type ContractOptions = {
  readonly startWorld: () => Promise<ProviderWorld>;
  /** Services that this provider can never serve. */
  readonly unmet: readonly UnmetCase[];
  /** A change of a Service that this provider carries out, beyond those of every provider. */
  readonly changes?: readonly { readonly title: string; readonly spec: Partial<Service['spec']> }[];
};

export function runProviderContract(name: string, options: ContractOptions): void {
  describe(`the provider "${name}"`, () => {
    testEnsure(options);
    testRemove(options);
    testUnmet(options);
    testHosts(options);
    testHalfDone(options);
  });
}

/** Nothing takes longer than this many looks in a world of tests. */
const maxChecks = 100;

export const ownerOf = ({ metadata }: Service): Owner => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});

const never = new AbortController().signal;

/** What is not ready yet is asked for again, as the controller does. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let inspect = 1; ; inspect += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof RetryLaterError) || inspect >= maxChecks) throw error;
    }
  }
}

const ensure = (provider: Provider, service: Service, nodes: readonly Node[]) =>
  patiently(() => provider.ensure({ service, nodes }, never));
const remove = (provider: Provider, service: Service) =>
  patiently(() => provider.remove(ownerOf(service), service, never));
const exists = (provider: Provider, service: Service) =>
  patiently(() => provider.exists(ownerOf(service), service, never));

async function withWorld(
  { startWorld }: ContractOptions,
  act: (world: ProviderWorld) => Promise<void>,
): Promise<void> {
  const world = await startWorld();
  try {
    await act(world);
  } finally {
    await world.stop();
  }
}

/** Ensured and published: as after a sync that went well. */
async function serve(
  world: ProviderWorld,
  provider: Provider,
  service: Service,
  nodes = world.nodes,
): Promise<Service> {
  const known = await world.publish(service, service.status.loadBalancer?.ingress ?? []);
  return world.publish(known, await ensure(provider, known, nodes));
}

function testEnsure(options: ContractOptions): void {
  test('ensure() makes a balancer and says where it is (LBC-02)', () =>
    withWorld(options, async (world) => {
      const provider = await world.makeProvider();
      const service = exampleService();
      assert.equal(await exists(provider, service), false);
      const served = await serve(world, provider, service);
      const [ingress] = served.status.loadBalancer?.ingress ?? [];
      assert.ok((ingress?.ip ?? ingress?.hostname ?? '') !== '', 'there is an address or a name');
      assert.equal(await exists(provider, served), true);
      assert.ok((await world.made()).length > 0);
    }));

  test('ensure() again, also by a provider that remembers nothing, changes nothing', () =>
    withWorld(options, async (world) => {
      const served = await serve(world, await world.makeProvider(), exampleService());
      const before = await world.made();
      for (let time = 0; time < 2; time += 1) {
        const ingress = await ensure(await world.makeProvider(), served, world.nodes);
        assert.deepEqual(ingress, served.status.loadBalancer?.ingress);
        assert.deepEqual(await world.made(), before);
      }
    }));

  test('ensure() of a changed Service ends where a new one would', () =>
    withWorld(options, async (world) => {
      const ports = [
        { ...examplePort, nodePort: 30090 },
        { ...examplePort, name: 'more', port: 81, nodePort: 30081 },
      ];
      const changes = [
        { title: 'ports', spec: { ports } },
        { title: 'source ranges', spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } },
        {
          title: 'policy',
          spec: { externalTrafficPolicy: 'Local' as const, healthCheckNodePort: 31000 },
        },
        ...(options.changes ?? []),
      ];
      const provider = await world.makeProvider();
      for (const { title, spec } of changes) {
        const served = await serve(world, provider, exampleService());
        await serve(world, provider, { ...served, spec: { ...served.spec, ...spec } });
        const changed = await world.made();
        await remove(provider, served);
        await world.forget(served);
        const fresh = await serve(world, provider, exampleService({ spec }));
        assert.deepEqual(changed, await world.made(), title);
        await remove(provider, fresh);
        await world.forget(fresh);
      }
    }));

  test('balancers of several Services are apart, whatever their names', () =>
    withWorld(options, async (world) => {
      const provider = await world.makeProvider();
      const services = [
        exampleService({ namespace: 'a', name: 'b-c' }),
        exampleService({ namespace: 'a-b', name: 'c' }),
        exampleService({ namespace: 'a', name: 'b' }),
      ];
      const served = await Promise.all(services.map((one) => serve(world, provider, one)));
      const steps = served.map(({ status }) => JSON.stringify(status.loadBalancer?.ingress));
      assert.equal(new Set(steps).size, services.length);
    }));
}

function testRemove(options: ContractOptions): void {
  test('remove() leaves nothing, and only of its owner', () =>
    withWorld(options, async (world) => {
      const provider = await world.makeProvider();
      const kept = await serve(world, provider, exampleService({ name: 'kept' }));
      const before = await world.made();
      const going = await serve(world, provider, exampleService({ name: 'going' }));
      const untouched = await world.addForeign?.(ownerOf(going));
      await remove(await world.makeProvider(), going);
      await world.forget(going);
      assert.deepEqual(await world.made(), before);
      assert.equal(await exists(provider, going), false);
      assert.equal(await exists(provider, kept), true);
      if (untouched !== undefined) assert.equal(await untouched(), true);
    }));

  test('remove() of what is not there, and again, is fine', () =>
    withWorld(options, async (world) => {
      const provider = await world.makeProvider();
      await remove(provider, exampleService({ name: 'never' }));
      const served = await serve(world, provider, exampleService());
      await remove(provider, served);
      await remove(provider, served);
      await world.forget(served);
      assert.deepEqual(await world.made(), []);
    }));

  test('a Service of the same name and another UID gets a balancer of its own (LBC-06)', () =>
    withWorld(options, async (world) => {
      const provider = await world.makeProvider();
      const before = await serve(world, provider, exampleService({ uid: 'uid-1' }));
      await remove(provider, before);
      await world.forget(before);
      const after = await serve(world, provider, exampleService({ uid: 'uid-2' }));
      assert.equal(await exists(provider, after), true);
      await remove(provider, after);
      await world.forget(after);
      assert.deepEqual(await world.made(), []);
    }));
}

function testUnmet(options: ContractOptions): void {
  for (const { title, service, says } of options.unmet) {
    test(`explains why it cannot serve ${title}, and makes nothing`, () =>
      withWorld(options, async (world) => {
        const provider = await world.makeProvider();
        const known = await world.publish(service, []);
        await assert.rejects(ensure(provider, known, world.nodes), (error: unknown) => {
          assert.ok(error instanceof UnmetRequestError, String(error));
          assert.match(error.message, says);
          assert.match(error.reason, /^[A-Z][A-Za-z]+$/);
          return true;
        });
        assert.deepEqual(await world.made(), []);
      }));

    test(`ensure() leaves the load balancer unchanged when its Service becomes ${title}`, () =>
      withWorld(options, async (world) => {
        const provider = await world.makeProvider();
        const served = await serve(world, provider, exampleService());
        const before = await world.made();
        const { spec, metadata } = service;
        const { annotations } = metadata;
        const changed = await world.publish(
          {
            ...served,
            spec,
            metadata: { ...served.metadata, ...(annotations && { annotations }) },
          },
          served.status.loadBalancer?.ingress ?? [],
        );
        await assert.rejects(ensure(provider, changed, world.nodes), UnmetRequestError);
        assert.deepEqual(await world.made(), before);
      }));
  }
}

function testHosts(options: ContractOptions): void {
  test('updateHosts() changes the hosts and nothing else (LBC-13)', () =>
    withWorld(options, async (world) => {
      const [first, second, third] = world.nodes;
      assert.ok(first && second && third);
      const provider = await world.makeProvider();
      const served = await serve(world, provider, exampleService(), [first, second]);
      const before = await world.made();
      const nodes = [second, third];
      await patiently(() => provider.updateHosts({ service: served, nodes }, never));
      const names = nodes.map(({ metadata }) => metadata.name ?? '');
      if (world.hostsOf !== undefined) assert.deepEqual(await world.hostsOf(served), names);
      else assert.deepEqual(await world.made(), before);
      await patiently(() =>
        provider.updateHosts({ service: served, nodes: [first, second] }, never),
      );
      assert.deepEqual(await world.made(), before);
    }));

  test('a balancer without hosts is made all the same (LBC-14)', () =>
    withWorld(options, async (world) => {
      const provider = await world.makeProvider();
      const served = await serve(world, provider, exampleService(), []);
      assert.equal(await exists(provider, served), true);
      if (world.hostsOf !== undefined) assert.deepEqual(await world.hostsOf(served), []);
    }));
}

/** More calls than any balancer takes; the test fails rather than going on for ever. */
const maxCalls = 500;

function testHalfDone(options: ContractOptions): void {
  /** Tries with a failure at every call in turn, until one try has none. */
  const atEveryCall = async (
    act: (world: ProviderWorld, arm: () => void) => Promise<void>,
  ): Promise<void> => {
    for (let calls = 0; calls < maxCalls; calls += 1) {
      let isOver = false;
      await withWorld(options, async (world) => {
        const { failAfter, hasFailed } = world;
        if (failAfter === undefined || hasFailed === undefined) {
          isOver = true;
          return;
        }
        await act(world, () => failAfter(calls));
        isOver = !hasFailed();
      });
      if (isOver) return;
    }
    assert.fail(`still failing after ${maxCalls} calls`);
  };
  const ignoring = async (act: Promise<unknown>): Promise<void> => void (await act.catch(() => {}));

  test('ensure() that broke off anywhere is finished by the next one', async () => {
    let whole: readonly string[] = [];
    await withWorld(options, async (world) => {
      await serve(world, await world.makeProvider(), exampleService());
      whole = await world.made();
    });
    await atEveryCall(async (world, arm) => {
      const provider = await world.makeProvider();
      arm();
      await ignoring(serve(world, provider, exampleService()));
      world.hasFailed?.();
      await serve(world, await world.makeProvider(), exampleService());
      assert.deepEqual(await world.made(), whole);
    });
  });

  test('remove() takes away what an ensure() that broke off anywhere has made', () =>
    atEveryCall(async (world, arm) => {
      const provider = await world.makeProvider();
      arm();
      await ignoring(serve(world, provider, exampleService()));
      const next = await world.makeProvider();
      if ((await world.made()).length > 0) assert.equal(await exists(next, exampleService()), true);
      await remove(next, exampleService());
      await world.forget(exampleService());
      assert.deepEqual(await world.made(), []);
    }));

  test('remove() that broke off anywhere is finished by the next one', () =>
    atEveryCall(async (world, arm) => {
      const served = await serve(world, await world.makeProvider(), exampleService());
      const provider = await world.makeProvider();
      arm();
      await ignoring(remove(provider, served));
      const next = await world.makeProvider();
      if ((await world.made()).length > 0) assert.equal(await exists(next, served), true);
      await remove(next, served);
      await world.forget(served);
      assert.deepEqual(await world.made(), []);
    }));
}
