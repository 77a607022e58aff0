// Names that need no query, and addresses that meet no rules: the hosts file and the loopback of a pod.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { nftables } from '../../../src/proxy/modes/nftables/mode.ts';
import { clusterSettings } from '../../../src/snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../../src/snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../../src/snapshot/snapshot.ts';
import { parseSource, parseTarget } from '../../../src/trace/parse-target.ts';
import type { Trace } from '../../../src/trace/trace.ts';
import { traceConnection } from '../../../src/trace/trace-connection.ts';
import { pod, service, slice, tracedWorld } from './traced-world.ts';

const client = pod('client', '10.244.1.9');
const aliased: Pod = {
  ...client,
  spec: {
    ...client.spec,
    hostname: 'clerk',
    subdomain: 'desk',
    hostAliases: [
      { ip: '10.96.0.20', hostnames: ['Shop.Example.com', 'web'] },
      { ip: '2001:db8::5', hostnames: ['both.example.com'] },
      { ip: '192.0.2.5', hostnames: ['both.example.com'] },
    ],
  },
};
const onHost: Pod = { ...pod('agent', '10.20.0.11'), spec: { ...aliased.spec, hostNetwork: true } };

function traceTo(text: string, from = 'pod/client'): Trace {
  const world = tracedWorld();
  const index = indexSnapshot(
    makeSnapshot({
      objects: {
        ...world,
        pods: [aliased, onHost, ...(world.pods ?? []).slice(1)],
        services: [
          ...(world.services ?? []),
          service('ported', {
            clusterIP: '10.96.0.30',
            type: 'NodePort',
            ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 31234 }],
          }),
        ],
        endpointSlices: [
          ...(world.endpointSlices ?? []),
          slice('ported', [{ address: '10.244.1.5', pod: 'web-1' }]),
        ],
      },
    }),
  );
  const [target, source] = [parseTarget(text), parseSource(from)];
  assert.ok('value' in target && 'value' in source);
  const traced = traceConnection(
    index,
    { target: target.value, text, from: source.value, namespace: 'default' },
    { settings: clusterSettings(index), mode: nftables },
  );
  assert.ok('value' in traced, 'error' in traced ? traced.error : '');
  return traced.value;
}

const resolved = (trace: Trace) => [
  trace.name?.isInHostsFile ?? false,
  trace.name?.queries.length,
  ...(trace.name?.used?.addresses ?? []),
];

test('traceConnection() finds host aliases before any query, in any case of letters', () => {
  const trace = traceTo('http://shop.example.COM');
  assert.deepEqual(resolved(trace), [true, 0, '10.96.0.20']);
  assert.equal(trace.paths[0]?.entrance.service, 'default/web');
  assert.equal(trace.verdict.kind, 'answered');
});

test('traceConnection() prefers the hosts file to a Service of the same name', () => {
  assert.deepEqual(resolved(traceTo('http://web')), [true, 0, '10.96.0.20']);
  assert.equal(resolved(traceTo('http://web.')).at(0), false);
  assert.equal(resolved(traceTo('http://web', 'pod/web-1')).at(0), false);
});

test('traceConnection() takes all addresses of a name, IPv6 first', () => {
  assert.deepEqual(resolved(traceTo('http://both.example.com')), [
    ...[true, 0],
    ...['2001:db8::5', '192.0.2.5'],
  ]);
});

test('traceConnection() knows the own names of a pod', () => {
  for (const name of ['clerk', 'clerk.desk.default.svc.cluster.local'])
    assert.deepEqual(resolved(traceTo(`http://${name}:8080`)), [true, 0, '10.244.1.9']);
});

test('traceConnection() ends at the pod itself for localhost', () => {
  const listening = traceTo('localhost:8080');
  assert.equal(listening.verdict.kind, 'answered');
  assert.match(listening.verdict.sentence, /by the pod itself, at port 8080/);
  assert.equal(listening.paths[0]?.ends[0]?.pod, 'default/client');
  const silent = traceTo('localhost:9');
  assert.equal(silent.verdict.otherwise, 'refused');
});

test('traceConnection() meets no node ports at the loopback of a pod or of a client', () => {
  for (const from of ['pod/client', 'outside']) {
    const { verdict } = traceTo('127.0.0.1:31234', from);
    assert.equal(verdict.otherwise, 'refused', from);
    assert.match(verdict.sentence, /127\.0\.0\.1 is the (?:pod|client) itself/);
  }
});

test('traceConnection() keeps to the node for pods on its network', () => {
  const trace = traceTo('localhost:31234', 'pod/agent');
  assert.deepEqual(resolved(trace), [true, 0, '::1', '127.0.0.1']);
  assert.ok(trace.paths.every(({ entrance }) => entrance.kind === 'node'));
});
