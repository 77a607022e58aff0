// Pod ranges of nodes, against the whole API server.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nodeIpamController } from '../../../src/controllers/node-ipam/run.ts';
import { type Cidr, parseCidr } from '../../../src/ip/cidr.ts';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import {
  type ControllerHarness,
  type HarnessOptions,
  startControllerHarness,
} from '../harness/controller-harness.ts';

const nodes = '/api/v1/nodes';
const cidrs = (text: string): readonly Cidr[] =>
  text.split(',').flatMap((part) => parseCidr(part) ?? []);

async function start(
  t: TestContext,
  clusterCidrs: string,
  more: HarnessOptions = {},
): Promise<ControllerHarness> {
  const harness = await startControllerHarness({
    controllers: [nodeIpamController],
    settings: {
      nodeIpam: {
        clusterCidrs: cidrs(clusterCidrs),
        maskSizes: { IPv4: 24, IPv6: 64 },
        serviceCidrs: cidrs('10.96.0.0/16'),
      },
    },
    ...more,
  });
  t.after(() => harness.stop());
  return harness;
}

const make = (harness: ControllerHarness, name: string, spec: object = {}): Promise<Node> =>
  harness.api.post<Node>(nodes, { metadata: { name }, spec });
const rangesOf = async (harness: ControllerHarness, name: string): Promise<readonly string[]> =>
  (await harness.api.get<Node>(`${nodes}/${name}`)).spec.podCIDRs ?? [];
const hasRange = (harness: ControllerHarness, name: string) => async (): Promise<boolean> =>
  (await rangesOf(harness, name)).length > 0;

test('nodes get one unique range of each family', async (t) => {
  const harness = await start(t, '10.244.0.0/16,fd44::/48');
  await make(harness, 'by-hand', { podCIDRs: ['10.244.1.0/24', 'fd44:0:0:1::/64'] });
  const names = Array.from({ length: 12 }, (_, index) => `node-${index}`);
  await Promise.all(names.map((name) => make(harness, name)));
  for (const name of names) await harness.until(`${name} has ranges`, hasRange(harness, name));
  const all = (await harness.list<Node>(nodes)).map(({ spec }) => spec.podCIDRs ?? []);
  assert.equal(new Set(all.flat()).size, 2 * (names.length + 1));
  assert.deepEqual(await rangesOf(harness, 'by-hand'), ['10.244.1.0/24', 'fd44:0:0:1::/64']);
  const { spec } = await harness.api.get<Node>(`${nodes}/node-0`);
  assert.equal(spec.podCIDR, spec.podCIDRs?.[0]);
});

test('a node without a free range gets an event, and a range when another node is deleted', async (t) => {
  const harness = await start(t, '10.244.0.0/24');
  await make(harness, 'first');
  await harness.until('the first has its range', hasRange(harness, 'first'));
  await make(harness, 'second');
  const reasons = async (): Promise<readonly string[]> =>
    (await harness.list<Event>('/api/v1/namespaces/default/events'))
      .filter(({ involvedObject }) => involvedObject.name === 'second')
      .map(({ reason, message }) => `${reason}: ${message}`);
  await harness.until('the event', async () => (await reasons()).length > 0);
  assert.deepEqual(await reasons(), [
    'CIDRNotAvailable: Node second status is now: CIDRNotAvailable',
  ]);
  await harness.api.delete(`${nodes}/first`);
  await harness.until('the second has it', hasRange(harness, 'second'), 1000);
  assert.deepEqual(await rangesOf(harness, 'second'), ['10.244.0.0/24']);
});

test('a range that is set by hand is not allocated again', async (t) => {
  const harness = await start(t, '10.244.0.0/22');
  await make(harness, 'first');
  await harness.until('the first has its range', hasRange(harness, 'first'));
  await make(harness, 'second', { podCIDRs: ['10.244.1.0/24'] });
  await make(harness, 'third');
  await harness.until('the third has its range', hasRange(harness, 'third'));
  assert.deepEqual(await rangesOf(harness, 'third'), ['10.244.2.0/24']);
});

test('nodes are left alone without --allocate-node-cidrs', async (t) => {
  const harness = await start(t, '', { settings: {} });
  await make(harness, 'first');
  await harness.clock.advance(10_000);
  assert.deepEqual(await rangesOf(harness, 'first'), []);
});
