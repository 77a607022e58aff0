import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectingService } from '../../kinds/service/example-backends.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { exampleEndpoints, storedSlice } from './example.ts';
import { createSliceMetrics } from './metrics.ts';

const near = selectingService({ spec: { trafficDistribution: 'PreferSameZone' } });
const counts = {
  added: 3,
  updated: 0,
  removed: 1,
  changedSlices: 2,
  endpoints: 7,
  slices: 2,
  minSlices: 1,
};
const slice = storedSlice('a', exampleEndpoints(1));
const changes = { create: [slice], update: [slice], delete: [] };
const sync = { key: 'a/web', service: near, changes, counts, isSpread: false, isWhole: true };

const values = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^\w+(\{[^}]*\})? /.test(line) && !line.includes('_bucket'));

test('createSliceMetrics() sums over services and follows each (EPS-37)', () => {
  const registry = createMetrics();
  const metrics = createSliceMetrics(registry);
  metrics.synced(sync);
  metrics.synced({ ...sync, key: 'a/db', service: selectingService() });
  metrics.synced({ ...sync, counts: { ...counts, endpoints: 5 } });
  metrics.failed();
  metrics.forget('a/db');
  const found = values(registry.text()).filter((line) => !line.includes('_per_sync'));
  assert.deepEqual(found, [
    'endpoint_slice_controller_changes{operation="create"} 3',
    'endpoint_slice_controller_changes{operation="update"} 3',
    'endpoint_slice_controller_syncs{result="success"} 3',
    'endpoint_slice_controller_syncs{result="error"} 1',
    'endpoint_slice_controller_endpoints_desired 5',
    'endpoint_slice_controller_num_endpoint_slices 2',
    'endpoint_slice_controller_desired_endpoint_slices 1',
    'endpoint_slice_controller_services_count_by_traffic_distribution{traffic_distribution="PreferSameZone"} 1',
  ]);
});

test('createSliceMetrics() observes each look (EPS-37)', () => {
  const registry = createMetrics();
  createSliceMetrics(registry).synced(sync);
  const found = values(registry.text()).filter((line) => line.includes('_per_sync'));
  const slices = 'endpoint_slice_controller_endpointslices_changed_per_sync';
  const labels = '{topology="Disabled",traffic_distribution="PreferSameZone"}';
  assert.deepEqual(found, [
    'endpoint_slice_controller_endpoints_added_per_sync_sum 3',
    'endpoint_slice_controller_endpoints_added_per_sync_count 1',
    'endpoint_slice_controller_endpoints_removed_per_sync_sum 1',
    'endpoint_slice_controller_endpoints_removed_per_sync_count 1',
    `${slices}_sum${labels} 2`,
    `${slices}_count${labels} 1`,
  ]);
});

test('createSliceMetrics() counts no success where a pod is left out, and no distribution under Auto (EPS-31, EPS-37)', () => {
  const registry = createMetrics();
  createSliceMetrics(registry).synced({ ...sync, isSpread: true, isWhole: false });
  const text = registry.text();
  assert.match(text, /changed_per_sync_count\{topology="Auto",traffic_distribution=""\} 1/);
  assert.doesNotMatch(text, /^endpoint_slice_controller_syncs\{/m);
  assert.doesNotMatch(text, /^endpoint_slice_controller_services_count_by_traffic_distribution\{/m);
});
