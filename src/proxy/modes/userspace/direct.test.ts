import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
  localEndpoint,
  remoteEndpoint,
} from '../../model/example-state.ts';
import { directRelays, hasUnfilteredBalancer, localRoutes } from './direct.ts';

const node = exampleNode({ nodePortAddresses: 'all', serviceCIDRs: ['10.96.0.0/16'] });
const port = exampleServicePort({
  clusterIP: '10.96.0.10',
  nodePort: 30080,
  externalIPs: ['203.0.113.1'],
  loadBalancerIPs: ['203.0.113.2'],
  externalPolicy: 'Local',
  clusterEndpoints: [localEndpoint, remoteEndpoint],
  localEndpoints: [localEndpoint],
});

const shown = (wanted: ReturnType<typeof directRelays>): readonly string[] =>
  wanted.map(({ listen, endpoints }) => `${listen.ip}:${listen.port} ${endpoints.length}`);

test('directRelays() listens on every address with the endpoints of its policy', () => {
  assert.deepEqual(shown(directRelays(port, node)), [
    '10.96.0.10:80 2',
    '203.0.113.1:80 1',
    '203.0.113.2:80 1',
    '0.0.0.0:30080 1',
  ]);
});

test('directRelays() opens nothing where there is no endpoint', () => {
  const empty = exampleServicePort({ ...port, localEndpoints: [] });
  assert.deepEqual(shown(directRelays(empty, node)), ['10.96.0.10:80 2']);
});

test('directRelays() leaves an address closed that only some may reach', () => {
  const guarded = exampleServicePort({ ...port, sourceRanges: ['10.0.0.0/8'] });
  assert.ok(hasUnfilteredBalancer(guarded));
  assert.ok(!shown(directRelays(guarded, node)).some((line) => line.startsWith('203.0.113.2')));
});

test('localRoutes() has the service ranges and what lies outside them, without the addresses of the node', () => {
  const own = exampleServicePort({
    ...port,
    key: 'own',
    externalIPs: [...node.nodeIPs, '10.96.7.7'],
  });
  const state = exampleState([port, own], node);
  assert.deepEqual([...localRoutes(state)], ['10.96.0.0/16', '203.0.113.1/32', '203.0.113.2/32']);
});
