import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortPlan } from '../../kinds/service/allocation.ts';
import { examplePort, exampleService } from '../../kinds/service/example.ts';
import { isApiError } from '../../meta/api-error.ts';
import { allocateNodePorts, type NodePortSource, portBands } from './node-port.ts';
import { createNodePortView, nodePortKey, nodePortValue } from './node-port-view.ts';

function source(taken: readonly number[], more: Partial<NodePortSource> = {}): NodePortSource {
  const view = createNodePortView();
  const value = nodePortValue('other/service');
  view.load(
    taken.map((port) => ({ key: nodePortKey(port), value, revision: 1, createRevision: 1 })),
  );
  return { view, range: { first: 30000, last: 30003 }, random: () => 0, dryRun: false, ...more };
}

const service = exampleService({
  spec: { type: 'NodePort', ports: [examplePort(), examplePort({ port: 81 })] },
});

function take(plan: PortPlan, from: NodePortSource): unknown {
  try {
    const grant = allocateNodePorts(service, plan, from);
    const { ports, healthCheckNodePort } = grant.service.spec;
    const numbers = ports?.map((port) => port.nodePort);
    return { numbers, healthCheckNodePort, taken: grant.taken };
  } catch (error) {
    if (isApiError(error)) return `${error.status.code} ${error.message}`;
    throw error;
  }
}

const any = (index: number) => ({ index, nodePort: 'any' as const });

test('allocateNodePorts() fills in what the plan asks for (NPT-03, NPT-08, NPT-11)', () => {
  const plan: PortPlan = { ports: [any(0), { index: 1, sameAs: 0 }], healthCheck: 'any' };
  assert.deepEqual(take(plan, source([30000])), {
    numbers: [30001, 30001],
    healthCheckNodePort: 30002,
    taken: [30001, 30002],
  });
});

test('allocateNodePorts() does not give away a number that the service names itself', () => {
  const plan: PortPlan = { ports: [any(0), { index: 1, nodePort: 30000 }] };
  assert.deepEqual(take(plan, source([])), {
    numbers: [30001, 30000],
    healthCheckNodePort: undefined,
    taken: [30001, 30000],
  });
});

const outside = 'provided port is not in the valid range. The range of valid ports is 30000-30003';
const refusals: readonly [string, PortPlan, string][] = [
  [
    'a taken port (NPT-05, NPT-07)',
    { ports: [{ index: 1, nodePort: 30000 }] },
    '422 Service "web" is invalid: spec.ports[1].nodePort: Invalid value: 30000: provided port is already allocated',
  ],
  [
    'a port outside the range (NPT-04)',
    { ports: [{ index: 0, nodePort: 80 }] },
    `422 Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 80: ${outside}`,
  ],
  [
    'any port of a full range (NPT-06)',
    { ports: [any(0), any(1)] },
    '500 Internal error occurred: failed to allocate a nodePort: range is full',
  ],
  [
    'any health check port of a full range (NPT-06)',
    { ports: [any(0)], healthCheck: 'any' },
    '500 Internal error occurred: failed to allocate a HealthCheck NodePort 0: range is full',
  ],
  [
    'a health check port outside the range, which upstream calls its own error (NPT-12)',
    { ports: [], healthCheck: 80 },
    `422 Service "web" is invalid: spec.healthCheckNodePort: Invalid value: 80: ${outside}`,
  ],
  [
    'a taken health check port (NPT-12)',
    { ports: [], healthCheck: 30000 },
    '422 Service "web" is invalid: spec.healthCheckNodePort: Invalid value: 30000: provided port is already allocated',
  ],
  [
    'one port twice',
    { ports: [{ index: 0, nodePort: 30003 }], healthCheck: 30003 },
    '422 Service "web" is invalid: spec.healthCheckNodePort: Invalid value: 30003: provided port is already allocated',
  ],
];

for (const [name, plan, wanted] of refusals) {
  test(`allocateNodePorts() refuses ${name}`, () => {
    assert.equal(take(plan, source([30000, 30001, 30002])), wanted);
  });
}

test('allocateNodePorts() notices in a dry run what is taken but not what is outside', () => {
  const dry = source([30000], { dryRun: true });
  const taken = take({ ports: [{ index: 0, nodePort: 30000 }] }, dry);
  assert.match(String(taken), /already allocated/);
  assert.deepEqual(take({ ports: [any(0), { index: 1, nodePort: 80 }], healthCheck: 'any' }, dry), {
    numbers: [32769, 80],
    healthCheckNodePort: 32770,
    taken: [32769, 80, 32770],
  });
  assert.deepEqual(take({ ports: [{ index: 0, nodePort: 30002 }, any(1)] }, dry), {
    numbers: [30002, 30003],
    healthCheckNodePort: undefined,
    taken: [30002, 30003],
  });
});

test('portBands() keeps the first 86 ports of the usual range for those who ask (NPT-01, NPT-02)', () => {
  assert.deepEqual(portBands({ first: 30000, last: 32767 }), {
    first: 30000n,
    upper: 30086n,
    last: 32767n,
  });
});
