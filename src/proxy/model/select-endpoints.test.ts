import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoint as SliceEndpoint } from '../../kinds/endpoint-slice/types.ts';
import { endpointsByPort } from './endpoints.ts';
import { exampleEndpoint, trimmedSlice } from './example-slice.ts';
import { exampleServicePort } from './example-state.ts';
import { countLocalReady, selectEndpoints } from './select-endpoints.ts';
import type { Endpoint, ServicePort } from './state.ts';

type Case = {
  readonly title: string;
  readonly endpoints: readonly (string | SliceEndpoint)[];
  readonly port?: Partial<ServicePort>;
  readonly zone?: string;
  readonly cluster: string;
  readonly local?: string;
  readonly has?: boolean;
};

const zones = (word: string, ...names: string[]): SliceEndpoint =>
  exampleEndpoint(word, { hints: { forZones: names.map((name) => ({ name })) } });
const nodes = (word: string, node: string, zone: string): SliceEndpoint =>
  exampleEndpoint(word, { hints: { forNodes: [{ name: node }], forZones: [{ name: zone }] } });
const outsideLocal: Partial<ServicePort> = { externalPolicy: 'Local', nodePort: 30_080 };

const cases: readonly Case[] = [
  { title: 'ready ones (KPX-10)', endpoints: ['1.1', '!1.2', '~2.3', '2.4'], cluster: '1.1 2.4' },
  {
    title: 'terminating ones as a last resort (KPX-10)',
    endpoints: ['!1.1', '~1.2', 'x2.3', '~2.4'],
    cluster: '1.2 2.4',
  },
  { title: 'none', endpoints: ['!1.1', 'x2.3'], cluster: '', has: false },
  {
    title: 'ready although not serving',
    endpoints: [exampleEndpoint('1.1', { conditions: { ready: true, serving: false } })],
    cluster: '1.1',
  },
  {
    title: 'ready when nothing is said',
    endpoints: [exampleEndpoint('1.1', { conditions: {} })],
    cluster: '1.1',
  },
  {
    title: 'own ones under policy Local (KPX-15)',
    endpoints: ['1.1', '2.2'],
    port: outsideLocal,
    cluster: '1.1 2.2',
    local: '1.1',
  },
  {
    title: 'own terminating ones while others are ready elsewhere (KPX-10)',
    endpoints: ['~1.1', '2.2'],
    port: outsideLocal,
    cluster: '2.2',
    local: '1.1',
  },
  {
    title: 'no others where nothing asks for them (KPX-14)',
    endpoints: ['1.1', '2.2'],
    port: { internalPolicy: 'Local' },
    cluster: '',
    local: '1.1',
  },
  {
    title: 'none here, some elsewhere (KPX-14)',
    endpoints: ['2.2'],
    port: { internalPolicy: 'Local' },
    cluster: '',
    local: '',
  },
  {
    title: 'those hinted to the zone (KPX-12)',
    endpoints: [zones('1.1', 'zone-a'), zones('2.2', 'zone-b')],
    cluster: '1.1',
  },
  {
    title: 'all when one has no hint (KPX-13)',
    endpoints: [zones('1.1', 'zone-a'), '2.2'],
    cluster: '1.1 2.2',
  },
  {
    title: 'all when no hint is for the zone (KPX-12)',
    endpoints: [zones('2.1', 'zone-b'), zones('2.2', 'zone-b')],
    cluster: '2.1 2.2',
  },
  {
    title: 'all when the node has no zone',
    endpoints: [zones('1.1', ''), zones('2.2', 'zone-b')],
    zone: '',
    cluster: '1.1 2.2',
  },
  {
    title: 'by hints of ready ones only (KPX-12)',
    endpoints: [zones('1.1', 'zone-a'), '!2.2', zones('2.3', 'zone-b')],
    cluster: '1.1',
  },
  {
    title: 'those hinted to the node (KPX-12)',
    endpoints: [
      nodes('1.1', 'n1', 'zone-a'),
      nodes('2.2', 'n3', 'zone-a'),
      nodes('2.3', 'n2', 'zone-b'),
    ],
    cluster: '1.1',
  },
  {
    title: 'those of the zone when none is for the node (KPX-12)',
    endpoints: [nodes('2.1', 'n3', 'zone-a'), nodes('2.3', 'n2', 'zone-b')],
    cluster: '2.1',
  },
  {
    title: 'no hints for policy Local (KPX-11)',
    endpoints: [zones('1.1', 'zone-b'), zones('2.2', 'zone-a')],
    port: outsideLocal,
    cluster: '2.2',
    local: '1.1',
  },
  {
    title: 'no hints for terminating ones (KPX-11)',
    endpoints: [zones('~1.1', 'zone-b'), zones('~2.2', 'zone-a')],
    cluster: '1.1 2.2',
  },
];

function entriesOf(endpoints: Case['endpoints']) {
  const slice = trimmedSlice(
    endpoints.map((one) => (typeof one === 'string' ? exampleEndpoint(one) : one)),
  );
  return endpointsByPort([slice], { family: 'IPv4', nodeName: 'n1' }).get('/TCP') ?? [];
}

const shown = (endpoints: readonly Endpoint[]): string =>
  endpoints.map(({ ip }) => ip.slice('10.244.'.length)).join(' ');

describe('selectEndpoints() takes', () => {
  for (const {
    title,
    endpoints,
    port,
    zone = 'zone-a',
    cluster,
    local = '',
    has = true,
  } of cases) {
    it(title, () => {
      const location = { nodeName: 'n1', zone };
      const found = selectEndpoints(entriesOf(endpoints), exampleServicePort(port), location);
      assert.deepEqual(
        [shown(found.clusterEndpoints), shown(found.localEndpoints), found.hasEndpoints],
        [cluster, local, has],
      );
    });
  }
});

describe('countLocalReady()', () => {
  it('counts addresses here that are ready, once (KPX-37, KPX-38)', () => {
    const entries = entriesOf(['1.1', '~1.2', '!1.3', '2.4', '1.5']);
    assert.equal(countLocalReady([entries, entries]), 2);
  });
});
