import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Flow } from '../../host/netlink/conntrack.ts';
import { staleFlows } from './remove-stale-flows.ts';

const local = new Set(['172.30.0.11', '127.0.0.1']);
const port = { protocol: 'udp', port: 53, podIP: '10.244.1.5', podPort: 5353 } as const;

function flow(destination: string, answers: string, destinationPort = 53): Flow {
  const source = '172.30.0.1';
  return {
    family: 'IPv4',
    protocol: 'UDP',
    original: { source, destination, sourcePort: 4000, destinationPort },
    reply: { source: answers, destination: source, sourcePort: 5353, destinationPort: 4000 },
    mark: 0,
    zone: 0,
    id: 1,
  };
}

const before = flow('172.30.0.11', '172.30.0.11');
const toPod = flow('172.30.0.11', '10.244.1.5');
const others = [flow('9.9.9.9', '9.9.9.9'), flow('172.30.0.11', '172.30.0.11', 54)];
const flows = [before, toPod, ...others];

test('staleFlows() finds flows to other destinations when a host port is added', () => {
  assert.deepEqual(staleFlows(flows, { ports: [port], isAdded: true, local }), [before]);
});

test('staleFlows() finds flows to the pod when a host port is removed', () => {
  assert.deepEqual(staleFlows(flows, { ports: [port], isAdded: false, local }), [toPod]);
});

test('staleFlows() ignores flows to other addresses than the hostIP', () => {
  const ports = [{ ...port, hostIP: '172.30.0.99' }];
  assert.deepEqual(staleFlows(flows, { ports, isAdded: true, local }), []);
});
