import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleNode, exampleServicePort } from '../model/example-state.ts';
import type { ServicePort } from '../model/state.ts';
import { parseConntrackLine } from './conntrack-text.ts';
import { createFlowChanges } from './flow-changes.ts';
import { type FlowChange, findStaleFlows, type TrackedFlow } from './stale-flows.ts';

const dns = exampleServicePort({
  protocol: 'UDP',
  port: 53,
  nodePort: 30_053,
  externalIPs: ['203.0.113.1'],
});
const served = new Set(['10.244.1.11 5353', '10.244.2.13 5353']);

function flow(destination: string, destinationPort: number, replier: string): TrackedFlow {
  const [source = '', sourcePort] = replier.split(' ');
  return {
    original: { destination, destinationPort },
    reply: { source, sourcePort: Number(sourcePort) },
  };
}

const toServed = flow('10.96.0.20', 53, '10.244.1.11 5353');
const toGone = flow('10.96.0.20', 53, '10.244.9.9 5353');
const untouched = flow('10.96.0.20', 53, '10.96.0.20 53');

const isStale = (change: Partial<FlowChange>, tracked: TrackedFlow): boolean =>
  findStaleFlows([{ servingEndpoints: served, ...change }], exampleNode()).isStale(tracked);

describe('findStaleFlows()', () => {
  const cases: readonly (readonly [string, Partial<FlowChange>, TrackedFlow, boolean])[] = [
    ['to an endpoint that serves (KPX-44)', { after: dns }, toServed, false],
    ['to an endpoint that is gone (KPX-44)', { after: dns }, toGone, true],
    ['that was never translated, now that it can be (KPX-44)', { after: dns }, untouched, true],
    ['by a node port', { after: dns }, flow('10.20.0.11', 30_053, '10.20.0.11 30053'), true],
    [
      'by the node port of another node',
      { after: dns },
      flow('10.20.0.12', 30_053, '10.20.0.12 30053'),
      false,
    ],
    [
      'by the node port on another address of this node, to an endpoint that is gone (KPX-30, KPX-44)',
      { after: dns },
      flow('10.20.9.1', 30_053, '10.244.9.9 5353'),
      true,
    ],
    [
      'by the node port on another address of this node, to an endpoint that serves',
      { after: dns },
      flow('10.20.9.1', 30_053, '10.244.1.11 5353'),
      false,
    ],
    ['by an external address', { after: dns }, flow('203.0.113.1', 53, '10.244.9.9 5353'), true],
    ['to another address', { after: dns }, flow('192.0.2.1', 53, '192.0.2.1 53'), false],
    [
      'of a Service without endpoints (KPX-45)',
      { after: dns, servingEndpoints: new Set() },
      toServed,
      true,
    ],
    [
      'of a Service that is gone (KPX-45)',
      { before: dns, servingEndpoints: new Set() },
      toServed,
      true,
    ],
    [
      'of a Service that is gone, never translated',
      { before: dns, servingEndpoints: new Set() },
      untouched,
      false,
    ],
    [
      'of an address given up',
      { before: dns, after: { ...dns, externalIPs: [] } },
      flow('203.0.113.1', 53, '10.244.1.11 5353'),
      true,
    ],
    ['of TCP', { after: { ...dns, protocol: 'TCP' } }, toGone, false],
  ];
  for (const [title, change, tracked, expected] of cases) {
    it(`${expected ? 'forgets' : 'keeps'} a flow ${title}`, () =>
      assert.equal(isStale(change, tracked), expected));
  }
  it('keeps a flow of an address that another Service has now, if that one serves it', () => {
    const changes = [
      { after: { ...dns, key: 'b' }, servingEndpoints: served },
      { before: dns, servingEndpoints: new Set<string>() },
    ];
    assert.equal(findStaleFlows(changes, exampleNode()).isStale(toServed), false);
  });
  it('has nothing to look for without UDP', () => {
    assert.equal(findStaleFlows([], exampleNode()).isEmpty, true);
  });
});

describe('createFlowChanges()', () => {
  const tcp = exampleServicePort({ name: 'tcp' });
  const state = (...ports: ServicePort[]) => ({
    node: exampleNode(),
    ports: new Map(ports.map((port) => [port.key, port])),
  });
  const shown = (changes: readonly FlowChange[]) =>
    changes.map(({ before, after }) => [before?.key, after?.key]);
  it('tells what became of each UDP port, and of nothing else', () => {
    const changes = createFlowChanges();
    const serving = (): ReadonlySet<string> => new Set();
    assert.deepEqual(shown(changes.take(state(dns, tcp), { kind: 'full' }, serving)), [
      [undefined, dns.key],
    ]);
    const none = { kind: 'ports', keys: new Set([tcp.key]) } as const;
    assert.deepEqual(changes.take(state(dns), none, serving), []);
    assert.deepEqual(shown(changes.take(state(), { kind: 'full' }, serving)), [
      [dns.key, undefined],
    ]);
    assert.deepEqual(changes.take(state(), { kind: 'full' }, serving), []);
  });
});

describe('parseConntrackLine()', () => {
  it('reads both directions', () => {
    const line =
      'udp      17 28 src=10.244.1.50 dst=10.96.0.20 sport=40001 dport=53 src=10.244.1.11 dst=10.244.1.50 sport=5353 dport=40001 mark=0 use=1';
    assert.deepEqual(parseConntrackLine(line), toServed);
  });
  it('reads flows without answers, and IPv6 in one spelling', () => {
    const line =
      'udp 17 28 src=fd44:1:0::50 dst=fd00:96:0:0::20 sport=1 dport=53 [UNREPLIED] src=fd44::11 dst=fd44:1::50 sport=5353 dport=1';
    assert.deepEqual(parseConntrackLine(line), flow('fd00:96::20', 53, 'fd44::11 5353'));
  });
  it('passes over what is no flow', () => {
    assert.equal(
      parseConntrackLine('conntrack v1.4.7: 3 flow entries have been shown.'),
      undefined,
    );
  });
});
