import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../observe/metrics.ts';
import { createEtcdMetrics, rangeLabels, transactionLabels } from './metrics.ts';

const key = '/fairlead/registry/services/default/web';
const put = { kind: 'put', key, value: new Uint8Array(0), lease: 0 } as const;

test('rangeLabels() and transactionLabels() name the operation and the type of object', () => {
  assert.deepEqual(rangeLabels({ key }), { operation: 'get', type: 'services' });
  assert.deepEqual(rangeLabels({ key: '/fairlead/', isCountOnly: true }), {
    operation: 'revision',
    type: '',
  });
  const list = { key: '/fairlead/registry/pods/', rangeEnd: Buffer.from('x') };
  assert.deepEqual(rangeLabels(list), { operation: 'list', type: 'pods' });
  for (const [revision, operation] of [
    [0, 'create'],
    [7, 'update'],
  ] as const) {
    const request = { compare: [{ key, revision }], success: [put], failure: [] };
    assert.deepEqual(transactionLabels(request), { operation, type: 'services' });
  }
  const remove = { compare: [], success: [{ kind: 'delete', key } as const], failure: [] };
  assert.deepEqual(transactionLabels(remove), { operation: 'delete', type: 'services' });
});

test('createEtcdMetrics() counts and times requests, and counts failures', async () => {
  const registry = createMetrics();
  const measure = createEtcdMetrics(registry);
  const labels = { operation: 'get', type: 'services' };
  assert.equal(await measure(labels, async () => 7), 7);
  await assert.rejects(
    measure(labels, () => Promise.reject(new Error('no'))),
    /no/,
  );
  const text = registry.text();
  assert.match(text, /etcd_requests_total\{operation="get",type="services"\} 2/);
  assert.match(text, /etcd_request_errors_total\{operation="get",type="services"\} 1/);
  assert.match(text, /etcd_request_duration_seconds_count\{operation="get",type="services"\} 2/);
});
