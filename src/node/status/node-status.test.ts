import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeStatus } from './node-status.ts';

const facts = {
  cpus: 4,
  memoryBytes: 8 * 1024 ** 3,
  diskBytes: 100 * 1024 ** 3,
  machineId: 'm',
  bootId: 'b',
  kernelVersion: '6.1',
  osImage: 'Linux',
  architecture: 'amd64',
};
const options = {
  name: 'node-1',
  ips: ['fd00::1', '10.0.0.1'],
  port: 10250,
  facts,
  runtimeVersion: 'process://1',
  agentVersion: 'v1',
  maxPods: 110,
  before: [],
  now: Date.parse('2026-01-01T00:00:00Z'),
};

test('nodeStatus() has capacity, addresses and the condition Ready', () => {
  const status = nodeStatus(options);
  assert.deepEqual(status.capacity, {
    cpu: '4',
    'ephemeral-storage': '104857600Ki',
    memory: '8388608Ki',
    pods: '110',
  });
  assert.deepEqual(status.allocatable, status.capacity);
  assert.deepEqual(
    status.addresses?.map(({ type, address }) => `${type} ${address}`),
    ['InternalIP 10.0.0.1', 'InternalIP fd00::1', 'Hostname node-1'],
  );
  assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
});

test('nodeStatus() is not ready while pods have no network', () => {
  const conditionsOf = (network: { problem?: string }): readonly string[] =>
    nodeStatus({ ...options, network })
      .conditions?.filter(({ type }) => ['Ready', 'NetworkUnavailable'].includes(type))
      .map(({ type, status, reason }) => `${type}=${status} ${reason}`) ?? [];
  assert.deepEqual(conditionsOf({ problem: 'no podCIDRs' }), [
    'NetworkUnavailable=True BridgeIsMissing',
    'Ready=False KubeletNotReady',
  ]);
  assert.deepEqual(conditionsOf({}), [
    'NetworkUnavailable=False BridgeIsUp',
    'Ready=True KubeletReady',
  ]);
});

test('nodeStatus() keeps the last transition time of unchanged conditions', () => {
  const first = nodeStatus(options);
  const later = nodeStatus({ ...options, before: first.conditions, now: options.now + 60_000 });
  const ready = later.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual(
    [ready?.lastTransitionTime, ready?.lastHeartbeatTime],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
  );
});
