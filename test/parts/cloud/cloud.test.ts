// The service controller against the real API server.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { ImplementedElsewhereError, RetryLaterError } from '../../../src/cloud/provider.ts';
import { makeLocalProvider } from '../../../src/cloud/providers/local/local-provider.ts';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { type CloudHarness, servicePath, startCloudHarness } from '../harness/cloud-harness.ts';
import { createLedger, type Ledger } from '../harness/cloud-ledger.ts';

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const nodesPath = '/api/v1/nodes';

let harness: CloudHarness;
let ledger: Ledger;
beforeEach(async () => {
  harness = await startCloudHarness();
  ledger = createLedger();
});
afterEach(() => harness.stop());

const served = (name: string): Promise<void> =>
  harness.until(`${name} is served`, async () => (await harness.addresses(name)) !== '');
const gone = (name: string): Promise<void> =>
  harness.until(`${name} is gone`, async () => (await harness.service(name)) === undefined);
const waitForEvent = (name: string, event: string): Promise<void> =>
  harness.until(event, async () => (await harness.events(name)).includes(event));
const addNode = (name: string, metadata: object = {}): Promise<unknown> =>
  harness.api.post(nodesPath, { metadata: { name, ...metadata } });
const startLocal = (pool = '192.0.2.0/29') =>
  harness.start({ makeProvider: makeLocalProvider, settings: { loadBalancerPool: pool } });
const startLedger = () => harness.start({ makeProvider: ledger.make });
const verbs = (): readonly string[] =>
  ledger.calls.map(({ verb, service }) => `${verb} ${service}`);

test('a Service gets finalizer, balancer and status, in this order, and loses them again (LBC-02, LBC-03, LBC-04)', async () => {
  await addNode('n1');
  const seen: string[] = [];
  ledger.meddle = async ({ verb }, when) => {
    const service = await harness.service('web');
    const has = service?.metadata.finalizers?.includes(finalizer) ?? false;
    seen.push(`${when} ${verb}: finalizer ${has}, address "${await harness.addresses('web')}"`);
  };
  startLedger();
  await harness.create('web');
  await served('web');
  const address = await harness.addresses('web');
  await harness.api.delete(servicePath('web'));
  await gone('web');
  assert.deepEqual(seen, [
    'before ensure: finalizer true, address ""',
    'after ensure: finalizer true, address ""',
    `before remove: finalizer true, address "${address}"`,
    `after remove: finalizer true, address "${address}"`,
  ]);
  await waitForEvent('web', 'DeletedLoadBalancer: Deleted load balancer');
  assert.deepEqual(await harness.events('web'), [
    'EnsuringLoadBalancer: Ensuring load balancer',
    'EnsuredLoadBalancer: Ensured load balancer',
    'DeletingLoadBalancer: Deleting load balancer',
    'DeletedLoadBalancer: Deleted load balancer',
  ]);
  assert.equal(ledger.balancers.size, 0);
});

test('finalizer and status are written as strategic merges of the status (LBC-03)', async () => {
  const writes: string[] = [];
  const send: typeof harness.direct = (request) => {
    const { method, path, headers = {} } = request;
    if (method !== 'GET' && path.includes('/services/')) {
      writes.push(`${method} ${path} ${headers['content-type']}`);
    }
    return harness.direct(request);
  };
  harness.start({ makeProvider: ledger.make, send });
  await harness.create('web');
  await served('web');
  const write = `PATCH ${servicePath('web')}/status application/strategic-merge-patch+json`;
  assert.deepEqual(writes, [write, write]);
});

test('a type changed away takes balancer, finalizer and status with it (LBC-05)', async () => {
  await addNode('n1');
  startLedger();
  await harness.create('web');
  await served('web');
  await harness.change('web', { type: 'ClusterIP' });
  await harness.until('finalizer and status are gone', async () => {
    const service = await harness.service('web');
    assert.ok(service);
    return (
      service.metadata.finalizers === undefined &&
      service.status.loadBalancer?.ingress === undefined
    );
  });
  assert.equal(ledger.balancers.size, 0);
  await waitForEvent('web', 'Type: LoadBalancer -> ClusterIP');
});

test('Services of another class are left alone, those of the own are served (LBC-01)', async () => {
  await addNode('n1');
  harness.start({ makeProvider: ledger.make, loadBalancerClass: 'example.com/mine' });
  await harness.create('plain');
  await harness.create('other', { loadBalancerClass: 'example.com/other' });
  await harness.create('mine', { loadBalancerClass: 'example.com/mine' });
  await served('mine');
  assert.deepEqual(verbs(), ['ensure default/mine']);
  for (const name of ['plain', 'other'])
    assert.equal((await harness.service(name))?.metadata.finalizers, undefined);
});

test("two controllers of two classes leave each other's Services alone (LBC-01)", async () => {
  await addNode('n1');
  const other = createLedger();
  startLedger();
  harness.start({ makeProvider: other.make, loadBalancerClass: 'example.com/other' });
  await harness.create('web', { loadBalancerClass: 'example.com/other' });
  await served('web');
  await harness.change('web', { ports: [{ port: 81, protocol: 'TCP' }] });
  await harness.until('the provider is called', async () => other.calls.length > 1);
  await harness.clock.advance(60_000);
  const { metadata } = (await harness.service('web')) ?? {};
  assert.deepEqual(metadata?.finalizers, ['service.kubernetes.io/load-balancer-cleanup']);
  assert.notEqual(await harness.addresses('web'), '');
  assert.deepEqual(verbs(), []);
  await harness.api.delete(servicePath('web'));
  await harness.until('it is gone', async () => (await harness.service('web')) === undefined);
  assert.equal(other.balancers.size, 0);
});

test('annotations that the provider ignores are reported once (LBC-22)', async () => {
  await addNode('n1');
  startLocal();
  const aws = 'service.beta.kubernetes.io/aws-load-balancer';
  const annotations = {
    [`${aws}-ssl-cert`]: 'arn:x',
    [`${aws}-proxy-protocol`]: '*',
    'service.kubernetes.io/topology-mode': 'Auto',
    'example.com/own': 'x',
  };
  await harness.create('web', {}, { annotations });
  const reported = `IgnoredAnnotations: Provider local ignores annotations: ${aws}-proxy-protocol, ${aws}-ssl-cert`;
  await waitForEvent('web', reported);
  await harness.change('web', { ports: [{ port: 81, protocol: 'TCP' }] });
  await harness.clock.advance(60_000);
  const { items } = await harness.api.get<ObjectList<Event>>('/api/v1/namespaces/default/events');
  const counts = items.filter(({ reason }) => reason === 'IgnoredAnnotations').map((e) => e.count);
  assert.deepEqual(counts, [1]);
});

test('only changes that affect a load balancer call the provider (LBC-09)', async () => {
  await addNode('n1');
  startLedger();
  await harness.create('web');
  await served('web');
  await harness.api.patch(servicePath('web'), { metadata: { labels: { a: 'b' } } });
  await harness.change('web', { selector: { a: 'b' } });
  await harness.change('web', { loadBalancerSourceRanges: ['10.0.0.0/8'] });
  await harness.until('a second look', async () => ledger.calls.length > 1);
  assert.deepEqual(verbs(), ['ensure default/web', 'ensure default/web']);
  await waitForEvent('web', 'LoadBalancerSourceRanges: [] -> [10.0.0.0/8]');
});

test('hosts are updated when the set of nodes changes, and only then (LBC-11 to LBC-14, LBC-21)', async () => {
  startLedger();
  await harness.create('web');
  await served('web');
  await waitForEvent(
    'web',
    'UnAvailableLoadBalancer: There are no available nodes for LoadBalancer',
  );
  await addNode('n1');
  await waitForEvent('web', 'UpdatedLoadBalancer: Updated load balancer with new hosts');
  await addNode('n2', {
    labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' },
  });
  await harness.api.patch(`${nodesPath}/n1`, { metadata: { labels: { a: 'b' } } });
  await addNode('n3');
  await harness.until('the third node', async () =>
    ledger.calls.some(({ hosts }) => hosts.includes('n3')),
  );
  assert.deepEqual(
    ledger.calls.map(({ verb, hosts }) => `${verb} ${hosts.join()}`),
    ['ensure ', 'updateHosts n1', 'updateHosts n1,n3'],
  );
  assert.match(harness.metrics.text(), /service_controller_loadbalancer_sync_total 3/);
  // A call is noted when it begins, and measured when it has ended.
  await harness.until('both rounds are over', async () =>
    /service_controller_nodesync_latency_seconds_count 2/.test(harness.metrics.text()),
  );
  assert.match(
    harness.metrics.text(),
    /service_controller_update_loadbalancer_host_latency_seconds_count 2/,
  );
});

test('hosts that could not be updated make the whole balancer be looked at again, without waiting for a resync (LBC-10, LBC-21)', async () => {
  await addNode('n1');
  startLedger();
  await harness.create('web');
  await served('web');
  ledger.meddle = ({ verb }, when) => {
    if (verb === 'updateHosts' && when === 'before') throw new Error('the cloud is away');
  };
  await addNode('n2');
  await waitForEvent(
    'web',
    'UpdateLoadBalancerFailed: Error updating load balancer with new hosts [n1 n2] [node names limited, total number of nodes: 2], error: the cloud is away',
  );
  await harness.until('n2 is known', async () =>
    [...ledger.balancers.values()].some(({ hosts }) => hosts === 'n1,n2'),
  );
  assert.match(harness.metrics.text(), /service_controller_nodesync_error_total 1/);
});

test('what fails is tried again after 5 s, doubling, and people hear why (LBC-07, LBC-08)', async () => {
  await addNode('n1');
  ledger.meddle = ({ verb }) => {
    if (verb === 'ensure' && ledger.calls.length < 4) throw new Error('no more quota');
  };
  startLedger();
  const start = harness.clock.now();
  await harness.create('web');
  await harness.until('it is served', async () => (await harness.addresses('web')) !== '', 60_000);
  const waits = ledger.calls.map(({ at }) => Math.round((at - start) / 1000));
  assert.deepEqual(waits, [0, 5, 15, 35]);
  await waitForEvent(
    'web',
    'SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: no more quota',
  );
  const [condition] = (await harness.service('web'))?.status.conditions ?? [];
  assert.equal(condition?.status, 'True');
});

test('a provider that needs time says how much, and that is no back-off (LBC-08)', async () => {
  await addNode('n1');
  ledger.meddle = ({ verb }) => {
    if (verb === 'ensure' && ledger.calls.length < 4)
      throw new RetryLaterError('still being made', 1_000);
  };
  startLedger();
  const start = harness.clock.now();
  await harness.create('web');
  await served('web');
  const waits = ledger.calls.map(({ at }) => Math.round((at - start) / 1000));
  assert.deepEqual(waits, [0, 1, 2, 3]);
});

test('a Service that another program looks after keeps its status (LBC-15)', async () => {
  await addNode('n1');
  ledger.meddle = () => {
    throw new ImplementedElsewhereError('not mine');
  };
  startLedger();
  await harness.create('web');
  await harness.until('it was asked', async () => ledger.calls.length > 0);
  await harness.clock.advance(20_000);
  assert.deepEqual(verbs(), ['ensure default/web']);
  assert.equal(await harness.addresses('web'), '');
  assert.ok(!(await harness.events('web')).some((event) => event.startsWith('Sync')));
});

test('a Service that went without its finalizer and came again does not leave its balancer (LBC-06)', async () => {
  await addNode('n1');
  startLedger();
  await harness.create('web');
  await served('web');
  const before = await harness.service('web');
  await harness.api.patch(servicePath('web'), { metadata: { finalizers: null } });
  await harness.api.delete(servicePath('web'));
  const after = await harness.create('web');
  await served('web');
  assert.notEqual(after.metadata.uid, before?.metadata.uid);
  await harness.until('one balancer is left', async () => ledger.balancers.size === 1);
  assert.deepEqual([...ledger.balancers.keys()], [after.metadata.uid]);
});

test('a change of type removes the load balancer even without the finalizer', async () => {
  await addNode('n1');
  startLedger();
  await harness.create('web');
  await served('web');
  await harness.api.patch(servicePath('web'), { metadata: { finalizers: null } });
  await harness.change('web', { type: 'ClusterIP' });
  await harness.until('the balancer is gone', async () => ledger.balancers.size === 0);
});

/** From here on a balancer that was taken away is not told to be, until the result is called. */
function holdRemovals(): () => void {
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  ledger.meddle = ({ verb }, when) => (verb === 'remove' && when === 'after' ? held : undefined);
  return goOn;
}

test('a balancer that is wanted again while it is taken away is made anew (LBC-05)', async () => {
  startLedger();
  await harness.create('web');
  await served('web');
  const goOn = holdRemovals();
  await harness.change('web', { type: 'ClusterIP' });
  await harness.until('it is taken away', async () => ledger.balancers.size === 0);
  await harness.change('web', { type: 'LoadBalancer' });
  await waitForEvent('web', 'Type: ClusterIP -> LoadBalancer');
  goOn();
  await harness.until('it stands again', async () => ledger.balancers.size === 1);
  await served('web');
});

test('a Service that comes while the balancer of its namesake is taken away gets its own (LBC-06)', async () => {
  startLedger();
  await harness.create('web');
  await served('web');
  const goOn = holdRemovals();
  await harness.api.patch(servicePath('web'), { metadata: { finalizers: null } });
  await harness.api.delete(servicePath('web'));
  await harness.until('it is taken away', async () => ledger.balancers.size === 0);
  await harness.create('web');
  await harness.clock.settle();
  goOn();
  await served('web');
});

test('a Service that stays pending says why, and is served when an address comes free', async () => {
  startLocal('192.0.2.1');
  await harness.create('first');
  await served('first');
  await harness.create('second');
  const why =
    'Cannot give an address: all 1 IPv4 addresses of the external pool (192.0.2.1-192.0.2.1) are taken';
  await waitForEvent(
    'second',
    `SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: ${why}`,
  );
  const conditionOf = async () => (await harness.service('second'))?.status.conditions?.[0];
  await harness.until('the condition', async () => (await conditionOf()) !== undefined);
  const condition = await conditionOf();
  assert.deepEqual(
    [condition?.type, condition?.status, condition?.reason, condition?.message],
    ['fairlead.dev/LoadBalancerReady', 'False', 'PoolExhausted', why],
  );
  const start = harness.clock.now();
  await harness.api.delete(servicePath('first'));
  await served('second');
  assert.ok(harness.clock.now() - start < 5_000, 'it did not wait for its turn');
  assert.equal(await harness.addresses('second'), '192.0.2.1');
  assert.equal((await conditionOf())?.status, 'True');
});

test('addresses of the local provider stay over a restart', async () => {
  const first = startLocal();
  for (const name of ['a', 'b', 'c']) {
    await harness.create(name);
    await served(name);
  }
  await harness.api.delete(servicePath('a'));
  await gone('a');
  await first.end();
  await harness.create('d');
  startLocal();
  await served('d');
  assert.deepEqual(
    [await harness.addresses('b'), await harness.addresses('c'), await harness.addresses('d')],
    ['192.0.2.2', '192.0.2.3', '192.0.2.1'],
  );
  const { status } = (await harness.service('b')) ?? {};
  assert.deepEqual(status?.loadBalancer?.ingress, [{ ip: '192.0.2.2', ipMode: 'VIP' }]);
});
