import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleService } from '../../kinds/service/example.ts';
import type { Service, ServicePort } from '../../kinds/service/types.ts';
import { judgeNodePorts, nodePortsOf } from './desired.ts';

const range = { first: 30000, last: 32767 };

function service(name: string, ports: readonly Partial<ServicePort>[], minute = 0): Service {
  return exampleService({
    metadata: { name, creationTimestamp: `2026-01-01T00:0${minute}:00Z` },
    spec: {
      type: 'NodePort',
      ports: ports.map((port) => ({ port: 80, protocol: 'TCP', ...port }) as ServicePort),
    },
  });
}

const texts = (services: readonly Service[], within = range): readonly string[] =>
  judgeNodePorts(services, within).map(
    ({ service: { metadata }, reason, message }) => `${metadata.name} ${reason} ${message}`,
  );

test('judgeNodePorts() finds the younger of two services with one port', () => {
  const young = service('young', [{ nodePort: 30001 }], 2);
  const old = service('old', [{ nodePort: 30001 }], 1);
  assert.deepEqual(texts([young, old]), [
    'young PortAlreadyAllocated Port 30001 was assigned to multiple services; please recreate service',
  ]);
});

test('judgeNodePorts() finds ports outside the range, if it knows one', () => {
  const outside = service('a', [{ nodePort: 80 }]);
  assert.deepEqual(texts([outside]), [
    'a PortOutOfRange Port 80 is not within the port range 30000-32767; please recreate service',
  ]);
  assert.deepEqual(judgeNodePorts([outside]), []);
});

test('nodePortsOf() counts a port of two protocols once, and the health check', () => {
  const both = service('a', [
    { nodePort: 30001 },
    { nodePort: 30001, protocol: 'UDP' },
    { nodePort: 0 },
  ]);
  assert.deepEqual(nodePortsOf(both), [30001]);
  const twice = service('a', [{ nodePort: 30001 }, { nodePort: 30001 }]);
  assert.deepEqual(nodePortsOf(twice), [30001, 30001]);
  const checked = { ...both, spec: { ...both.spec, healthCheckNodePort: 30009 } };
  assert.deepEqual(nodePortsOf(checked), [30001, 30009]);
  const plain = { ...both, spec: { ...both.spec, type: 'ClusterIP' as const } };
  assert.deepEqual(nodePortsOf(plain), []);
});
