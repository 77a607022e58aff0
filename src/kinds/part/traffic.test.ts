import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxRowsOfPart, type NodeTraffic, trafficQuestion } from './traffic.ts';
import { readTrafficList } from './traffic-list.ts';

const row = {
  ...({ set: 'cluster', isEligible: true, ip: '10.244.1.11', port: 9376 } as const),
  ...{ tracked: 5, open: 3, unanswered: 0, opened: 1, bytesIn: 10, bytesOut: 20, uncounted: 0 },
  ...{ clients: 2, busiest: [{ client: '10.244.1.7:4711', bytes: 30 }] },
};
const port = {
  ...({
    namespace: 'default',
    name: 'web',
    portName: '',
    family: 'IPv4',
    protocol: 'TCP',
  } as const),
  ...{ port: 80, eligible: { cluster: 3, local: 1 }, endpoints: [row] },
};
const traffic: NodeTraffic = {
  ...{ mode: 'nftables', intervalMs: 2000, ageMs: 0, bytesCounted: 'yes' },
  ...{ ports: [port], omittedRows: 0, isPartial: false },
};

const withRow = (parts: object) => ({
  ...traffic,
  ports: [{ ...port, endpoints: [{ ...row, ...parts }] }],
});
const withPort = (parts: object) => ({ ...traffic, ports: [{ ...port, ...parts }] });

describe('trafficQuestion.readAnswer()', () => {
  it('reads what it writes, and what another server has read', () => {
    const text = trafficQuestion.writeAnswer?.(traffic);
    assert.deepEqual(trafficQuestion.readAnswer(text), traffic);
    assert.deepEqual(trafficQuestion.readAnswer(traffic), traffic);
  });
  it('copies only the fields that it knows', () => {
    const more = { ...withRow({ secret: 1 }), more: 'x' };
    assert.deepEqual(trafficQuestion.readAnswer(more), traffic);
  });
  it('takes as many rows as a part may send', () => {
    const many = withPort({ endpoints: Array.from({ length: maxRowsOfPart }, () => row) });
    assert.ok(trafficQuestion.readAnswer(JSON.stringify(many)) !== undefined);
  });
  it('takes addresses of either family, in one spelling', () => {
    const six = withPort({
      family: 'IPv6',
      endpoints: [{ ...row, ip: 'FD44::0:7', busiest: [{ client: '[fd44::9]:1', bytes: 1 }] }],
    });
    assert.equal(trafficQuestion.readAnswer(six)?.ports[0]?.endpoints[0]?.ip, 'fd44::7');
  });
  const refused: readonly (readonly [string, unknown])[] = [
    ['no object', 7],
    ['no JSON', '{'],
    ['a text of a million lists', `[${'[],'.repeat(100_000)}1]`],
    ['a text that is nested without end', '['.repeat(400_000)],
    ['a text that is too long', `"${'x'.repeat(600_000)}"`],
    ['an interval of nothing', { ...traffic, intervalMs: 0 }],
    ['an infinite age', { ...traffic, ageMs: Number.POSITIVE_INFINITY }],
    ['another word for bytes', { ...traffic, bytesCounted: 'maybe' }],
    ['escapes in a mode', { ...traffic, mode: '\u001b[2J' }],
    ['a scheduler that is none', { ...traffic, scheduler: 7 }],
    [
      'too many rows',
      withPort({ endpoints: Array.from({ length: maxRowsOfPart + 1 }, () => row) }),
    ],
    [
      'too many ports',
      { ...traffic, ports: Array.from({ length: maxRowsOfPart + 1 }, () => port) },
    ],
    ['a name with escapes', withPort({ name: 'web\u001b[31m' })],
    ['a name that is too long', withPort({ name: 'a'.repeat(254) })],
    ['a port beyond all', withPort({ port: 65_536 })],
    ['a port of a protocol that Services do not have', withPort({ protocol: 'ICMP' })],
    ['an address of the other family', withPort({ family: 'IPv6' })],
    ['an address that is none', withRow({ ip: '10.244.1.999' })],
    ['half a connection', withRow({ open: 0.5 })],
    ['minus one', withRow({ bytesIn: -1 })],
    ['more than can be counted', withRow({ bytesOut: 2 ** 60 })],
    ['a client with escapes', withRow({ busiest: [{ client: '\u001b[2J', bytes: 1 }] })],
    ['too many clients', withRow({ busiest: Array.from({ length: 4 }, () => row.busiest[0]) })],
  ];
  for (const [title, value] of refused) {
    it(`refuses ${title}`, () => assert.equal(trafficQuestion.readAnswer(value), undefined));
  }
});

describe('trafficQuestion.readSpec()', () => {
  const cases: readonly (readonly [string, unknown, boolean])[] = [
    ['everything', { intervalMs: 2000, maxRows: 9 }, true],
    ['a Service', { intervalMs: 2000, maxRows: 9, namespace: 'a', name: 'b' }, true],
    ['a name that is none', { intervalMs: 2000, maxRows: 9, name: '../x' }, false],
    ['an interval that is too long', { intervalMs: 3_600_000, maxRows: 9 }, false],
    ['an interval of nothing', { intervalMs: 0, maxRows: 9 }, false],
    ['no limit', { intervalMs: 2000 }, false],
  ];
  for (const [title, spec, isFine] of cases) {
    it(`${isFine ? 'takes' : 'refuses'} ${title}`, () =>
      assert.equal(trafficQuestion.readSpec(spec) !== undefined, isFine));
  }
  it('never promises more rows than a part may send', () => {
    const spec = trafficQuestion.readSpec({ intervalMs: 2000, maxRows: 1e9 });
    assert.equal(spec?.maxRows, maxRowsOfPart);
  });
});

describe('readTrafficList()', () => {
  const item = (name: string, status: object) => ({ metadata: { name }, status });
  it('has a reason for each node without an answer', () => {
    const items = [
      item('n1', { measured: traffic }),
      item('n2', { reason: 'no answer' }),
      item('n3', { measured: { ...traffic, ports: 'x' } }),
    ];
    assert.deepEqual(readTrafficList({ items }), [
      { node: 'n1', measured: traffic },
      { node: 'n2', reason: 'no answer' },
      { node: 'n3', reason: 'the answer is not understood' },
    ]);
  });
  for (const [title, value] of [
    ['something else', { kind: 'Status' }],
    ['a node with escapes', { items: [item('n\u001b[2J', {})] }],
    ['a node without a status', { items: [{ metadata: { name: 'n1' } }] }],
  ] as const) {
    it(`refuses ${title}`, () => assert.equal(readTrafficList(value), undefined));
  }
});
