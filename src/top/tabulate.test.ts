import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoint } from '../kinds/endpoint-slice/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { EndpointTraffic, NodeTraffic } from '../kinds/part/traffic.ts';
import type { MeasuredNode } from '../kinds/part/traffic-list.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { exampleService } from '../kinds/service/example.ts';
import type { ServiceSpec } from '../kinds/service/types.ts';
import { exampleEndpoint, exampleSlice } from '../proxy/model/example-slice.ts';
import { loadAllModes } from '../proxy/modes/all.ts';
import { clusterSettings } from '../snapshot/cluster-settings.ts';
import { exampleNode, now } from '../snapshot/example.ts';
import { indexSnapshot } from '../snapshot/index-snapshot.ts';
import { makeSnapshot, type Unread } from '../snapshot/snapshot.ts';
import type { SortKey } from './sort-services.ts';
import { tabulate } from './tabulate.ts';
import type { TopServices } from './top-services.ts';

const [mode] = await loadAllModes();

type Row = Partial<EndpointTraffic> & { readonly ip: string };

/** Endpoint `1.11` with so many connections, all open. */
const row = (host: string, tracked: number, parts: Partial<EndpointTraffic> = {}): Row => ({
  ip: `10.244.${host}`,
  ...{ tracked, open: tracked, clients: tracked },
  ...parts,
});

function measured(
  node: string,
  rows: readonly Row[],
  parts: Partial<NodeTraffic> = {},
  name = 'web',
): MeasuredNode {
  const endpoints = rows.map((one) => ({
    ...({ set: 'cluster', isEligible: true, port: 9376, unanswered: 0, opened: 0 } as const),
    ...{ tracked: 0, open: 0, bytesIn: 0, bytesOut: 0, uncounted: 0, clients: 0, busiest: [] },
    ...one,
  }));
  const port = {
    ...({ namespace: 'default', name, portName: '', family: 'IPv4', protocol: 'TCP' } as const),
    ...{ port: 80, eligible: { cluster: 0, local: 0 }, endpoints },
  };
  return {
    node,
    measured: {
      ...{ mode: 'nftables', intervalMs: 2000, ageMs: 0, bytesCounted: 'yes' },
      ...{ ports: [port], omittedRows: 0, isPartial: false },
      ...parts,
    },
  };
}

type World = {
  readonly spec?: Partial<ServiceSpec>;
  readonly endpoints?: readonly Endpoint[];
  readonly nodes?: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly unread?: readonly Unread[];
  readonly sortBy?: SortKey;
  readonly names?: readonly string[];
};

const three = ['1.11', '1.12', '2.13'].map((word) => exampleEndpoint(word));

function top(answers: readonly MeasuredNode[], world: World = {}): TopServices {
  assert.ok(mode !== undefined);
  const { spec = {}, endpoints = three, sortBy = 'connections', names = ['web'] } = world;
  const { nodes = [exampleNode(1), exampleNode(2)], pods = [], unread = [] } = world;
  const ports = [{ port: 80, protocol: 'TCP', targetPort: 9376 }] as const;
  const index = indexSnapshot(
    makeSnapshot({
      objects: {
        services: names.map((name, at) =>
          exampleService({
            metadata: { name },
            spec: { clusterIP: `10.96.0.2${at}`, ports, ...spec },
          }),
        ),
        endpointSlices: [exampleSlice(endpoints)],
        ...{ nodes, pods },
      },
      unread,
    }),
  );
  return tabulate(answers, index, {
    ...{ mode, settings: clusterSettings(index), nodePortAddresses: [] },
    ...{ namespace: 'default', sortBy, nowMs: now },
  });
}

const skewOf = (answers: readonly MeasuredNode[], world: World = {}) => {
  const [service] = top(answers, world).services;
  const { verdict, factor, endpoint, causes = [] } = service?.skew ?? {};
  return { verdict, factor, endpoint, causes: causes.map(({ code }) => code), all: causes };
};

const pod = (name: string, readyFor: number): Pod =>
  ({
    metadata: { name, namespace: 'default' },
    spec: {},
    status: {
      conditions: [
        {
          ...{ type: 'Ready', status: 'True' },
          lastTransitionTime: new Date(now - readyFor * 1000).toISOString(),
        },
      ],
    },
  }) as unknown as Pod;

const ofPod = (word: string, name: string): Endpoint =>
  exampleEndpoint(word, { targetRef: { kind: 'Pod', namespace: 'default', name } });

describe('tabulate() verdicts', () => {
  const cases: readonly (readonly [string, readonly number[], string])[] = [
    ['an even spread', [100, 104, 96], 'even'],
    ['chance with some hundred connections', [120, 90, 90], 'even'],
    ['a little skew that is certain', [35_000, 33_000, 32_000], 'even'],
    ['skew that is certain', [140, 80, 80], 'skewed'],
    ['all at one of three', [12, 0, 0], 'skewed'],
    ['few connections', [3, 1, 2], 'too-few'],
    ['not enough to exclude twice the share', [14, 12, 10], 'too-few'],
    ['none', [0, 0, 0], 'no-connections'],
    ['as many as numbers go', [2 ** 52, 2 ** 52, 2 ** 52], 'even'],
  ];
  for (const [title, [a = 0, b = 0, c = 0], expected] of cases) {
    it(`${title} is ${expected}`, () => {
      const rows = [row('1.11', a), row('1.12', b), row('2.13', c)];
      assert.equal(skewOf([measured('n1', rows)]).verdict, expected);
    });
  }
  it('one endpoint has all', () => {
    const endpoints = [exampleEndpoint('1.11')];
    assert.equal(
      skewOf([measured('n1', [row('1.11', 99)])], { endpoints }).verdict,
      'one-endpoint',
    );
  });
  it('does not compare what earlier rules sent to an endpoint that gets nothing now', () => {
    const gone = row('1.99', 500, { isEligible: false });
    const rows = [row('1.11', 100), row('1.12', 100), row('2.13', 100), gone];
    assert.equal(skewOf([measured('n1', rows)]).verdict, 'even');
    const [service] = top([measured('n1', rows)]).services;
    const last = service?.ports[0]?.endpoints.find(({ address }) => address === '10.244.1.99');
    assert.deepEqual([last?.isUsed, last?.share], [false, undefined]);
    assert.equal(service?.openConnections, 800);
  });
  it('does not guess where the policy of connections is not known', () => {
    const rows = [row('1.11', 100, { set: 'unknown' })];
    assert.equal(skewOf([measured('n1', rows)]).verdict, 'no-connections');
  });
});

describe('tabulate() causes', () => {
  it('session affinity, and few clients', () => {
    const rows = [row('1.11', 90, { clients: 2 }), row('1.12', 6, { clients: 1 })];
    const spec = { sessionAffinity: 'ClientIP' } as const;
    const { factor, endpoint, causes, all } = skewOf([measured('n1', rows)], { spec });
    assert.deepEqual([factor, endpoint], [2.81, '10.244.1.11:9376']);
    assert.deepEqual(causes, ['affinity', 'few-clients']);
    assert.match(all[0]?.evidence ?? '', /of 3 clients where the first one went, for 10800 s$/);
  });
  it('policy Local: one endpoint on a node with as many connections as two on another', () => {
    const local = { set: 'local' } as const;
    const answers = [
      measured('n1', [row('1.11', 50, local), row('1.12', 50, local)]),
      measured('n2', [row('2.13', 100, local)]),
    ];
    const { causes, all, factor } = skewOf(answers, { spec: { internalTrafficPolicy: 'Local' } });
    assert.deepEqual(causes, ['policy-local']);
    assert.equal(factor, 1.5);
    assert.equal(
      all[0]?.evidence,
      '200 of 200 connections came under policy Local: 100 at node n2 for 1 endpoint, 100 at node n1 for 2 endpoints',
    );
  });
  it('hints: a zone with more connections than endpoints', () => {
    const near = (word: string, zone: string) =>
      exampleEndpoint(word, { hints: { forZones: [{ name: zone }] } });
    const endpoints = [near('1.11', 'a'), near('1.12', 'a'), near('2.13', 'b')];
    const answers = [
      measured('n1', [row('1.11', 50), row('1.12', 50)]),
      measured('n2', [row('2.13', 100)]),
    ];
    const { causes, all } = skewOf(answers, { endpoints });
    assert.deepEqual(causes, ['hints']);
    assert.match(
      all[0]?.evidence ?? '',
      /^hints kept 200 of 200 .* 100 at node n2 for 1 endpoint,/,
    );
    const unread = [{ kind: 'nodes', reason: 'forbidden', message: 'no' } as const];
    const blind = skewOf(answers, { endpoints, unread, nodes: [] });
    assert.equal(blind.verdict, 'unknown');
  });
});

describe('tabulate() causes in connections', () => {
  it('a scheduler', () => {
    const rows = [row('1.11', 90), row('1.12', 10), row('2.13', 0)];
    const { causes } = skewOf([measured('n1', rows, { mode: 'ipvs', scheduler: 'sh' })]);
    assert.deepEqual(causes, ['scheduler']);
  });
  it('an endpoint that was added lately, and not one among others as new', () => {
    const endpoints = [ofPod('1.11', 'a'), ofPod('1.12', 'b'), ofPod('2.13', 'c')];
    const answers = [measured('n1', [row('1.11', 100), row('1.12', 100), row('2.13', 2)])];
    const pods = [pod('a', 9000), pod('b', 8000), pod('c', 30)];
    const { causes, all } = skewOf(answers, { endpoints, pods });
    assert.deepEqual(causes, ['added-endpoint']);
    assert.equal(
      all[0]?.evidence,
      'pod c has been ready for 30 s: older connections are elsewhere',
    );
    const together = [pod('a', 30), pod('b', 30), pod('c', 30)];
    assert.deepEqual(skewOf(answers, { endpoints, pods: together }).causes, ['long-connections']);
  });
  it('an endpoint that does not answer', () => {
    const busy = { open: 0, opened: 50 };
    const silent = row('1.11', 200, { ...busy, unanswered: 190 });
    const answers = [measured('n1', [silent, row('1.12', 50, busy), row('2.13', 50, busy)])];
    const { causes, all } = skewOf(answers);
    assert.deepEqual(causes, ['unanswered']);
    assert.match(all[0]?.evidence ?? '', /has not answered 190 of 200 connections$/);
  });
  it('connections that stay, and what is not known', () => {
    const stay = [row('1.11', 200), row('1.12', 10), row('2.13', 200)];
    assert.deepEqual(skewOf([measured('n1', stay)]).causes, ['long-connections']);
    const come = stay.map((one) => ({ ...one, opened: one.tracked ?? 0 }));
    assert.deepEqual(skewOf([measured('n1', come)]).causes, ['not-known']);
  });
  it('one heavy connection among an even spread, by its client', () => {
    const busiest = [{ client: '10.244.9.9:4711', bytes: 40_000_000 }];
    const rows = [
      row('1.11', 100, { bytesIn: 1_000_000, bytesOut: 40_000_000, busiest }),
      row('1.12', 100, { bytesOut: 1_000_000 }),
      row('2.13', 100, { bytesOut: 1_000_000 }),
    ];
    const { verdict, factor, causes, all } = skewOf([measured('n1', rows)]);
    assert.deepEqual([verdict, factor, causes], ['skewed', 2.86, ['heavy-connections']]);
    assert.match(
      all[0]?.evidence ?? '',
      /^the connection of 10\.244\.9\.9:4711 carries 98% of the bytes of/,
    );
    const many = rows.map((one) => ({ ...one, busiest: [] }));
    assert.equal(skewOf([measured('n1', many)]).verdict, 'even');
  });
});

describe('tabulate() sums', () => {
  it('adds the rates of nodes, each by its own interval, and every connection once', () => {
    const answers = [
      measured('n1', [row('1.11', 4, { opened: 4, bytesIn: 2000 })]),
      measured('n2', [row('1.11', 6, { opened: 3, bytesOut: 3000 })], { intervalMs: 1000 }),
    ];
    const [service] = top(answers).services;
    assert.deepEqual(
      [service?.openConnections, service?.newPerSecond, service?.usableEndpoints],
      [10, 5, 3],
    );
    assert.deepEqual([service?.bytesInPerSecond, service?.bytesOutPerSecond], [1000, 3000]);
  });
  it('has no bytes where none are counted', () => {
    const [service] = top([measured('n1', [row('1.11', 4)], { bytesCounted: 'no' })]).services;
    assert.equal(service?.bytesInPerSecond, undefined);
  });
  it('shows what cannot be read, without a verdict', () => {
    const { services } = top([measured('n1', [row('1.11', 4)], {}, 'other')]);
    assert.deepEqual(
      services.map(({ name, openConnections, skew }) => [name, openConnections, skew.verdict]),
      [
        ['other', 4, 'unknown'],
        ['web', 0, 'no-connections'],
      ],
    );
  });
  it('gives no verdict where answers were cut', () => {
    const rows = [row('1.11', 100), row('1.12', 100)];
    const { verdict } = skewOf([measured('n1', rows, { omittedRows: 1 })]);
    assert.equal(verdict, 'unknown');
  });
  it('reports each node', () => {
    const silent = { node: 'n3', reason: 'no proxy is connected' };
    const { nodes } = top([measured('n1', []), silent]);
    assert.deepEqual(nodes[1], silent);
    assert.deepEqual([nodes[0]?.mode, nodes[0]?.intervalMilliseconds], ['nftables', 2000]);
  });
});

describe('tabulate() order', () => {
  const names = ['a', 'b', 'c'];
  const answers = [
    measured('n1', [row('1.11', 5, { bytesIn: 10 })], {}, 'a'),
    measured('n1', [row('1.11', 9, { bytesIn: 5 })], {}, 'b'),
    measured('n1', [row('1.11', 1, { bytesIn: 7 })], {}, 'c'),
  ];
  const cases: readonly (readonly [SortKey, string])[] = [
    ['connections', 'b a c'],
    ['bytes', 'a c b'],
    ['name', 'a b c'],
  ];
  for (const [sortBy, expected] of cases) {
    it(`by ${sortBy}`, () => {
      const { services } = top(answers, { sortBy, names });
      assert.equal(services.map(({ name }) => name).join(' '), expected);
    });
  }
  it('by skew', () => {
    const uneven = measured('n1', [row('1.11', 100), row('1.12', 1), row('2.13', 1)], {}, 'web');
    const { services } = top([...answers, uneven], { sortBy: 'skew', names: ['a', 'b', 'web'] });
    assert.equal(services[0]?.name, 'web');
  });
});
