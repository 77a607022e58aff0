import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleServicePort } from '../../model/example-state.ts';
import { redirected, relaysOf } from './desired.ts';

const here = { ip: '10.244.1.11', port: 9376, isLocal: true };
const elsewhere = { ip: '10.244.2.13', port: 9376, isLocal: false };
const port = exampleServicePort({
  nodePort: 30_080,
  externalIPs: ['203.0.113.1'],
  clusterEndpoints: [here, elsewhere],
  localEndpoints: [here],
  affinitySeconds: 60,
});

test('relaysOf() has a relay for each set of endpoints that traffic may use (USR-01)', () => {
  const cluster = { ip: here.ip, port: here.port };
  const far = { ip: elsewhere.ip, port: elsewhere.port };
  const common = { protocol: 'TCP', affinitySeconds: 60 } as const;
  assert.deepEqual(relaysOf(port), [
    { ...common, id: `${port.key} cluster`, endpoints: [cluster, far] },
  ]);
  assert.deepEqual(relaysOf({ ...port, externalPolicy: 'Local' }), [
    { ...common, id: `${port.key} cluster`, endpoints: [cluster, far] },
    { ...common, id: `${port.key} local`, endpoints: [cluster] },
  ]);
  assert.deepEqual(relaysOf({ ...port, clusterEndpoints: [], localEndpoints: [] }), []);
});

test('redirected() leads every address of a service to its relay, which lives with the process (USR-01, USR-12)', () => {
  const relay = { ip: '10.20.0.11', port: 41_873 };
  const seen = redirected(port, (id) => (id === `${port.key} cluster` ? relay : undefined));
  const { affinitySeconds: _, ...rest } = port;
  assert.deepEqual(seen, {
    ...rest,
    clusterEndpoints: [{ ...relay, isLocal: true }],
    localEndpoints: [],
  });
  // Without relays (before they are open) there are no endpoints.
  assert.deepEqual(redirected(port, () => undefined).clusterEndpoints, []);
});

test('relaysOf() and redirected() leave SCTP to the kernel (USR-07)', () => {
  const sctp = { ...port, protocol: 'SCTP' } as const;
  assert.deepEqual(relaysOf(sctp), []);
  assert.deepEqual(
    redirected(sctp, () => undefined),
    sctp,
  );
});
