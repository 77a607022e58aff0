import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../observe/metrics.ts';
import { createMirrorMetrics } from './metrics.ts';

const counts = {
  added: 3,
  updated: 2,
  removed: 1,
  changedSlices: 2,
  endpoints: 7,
  slices: 2,
  minSlices: 1,
};
const changes = { create: [], update: [], delete: [] };
const sync = { key: 'a/web', changes, counts, skipped: 4, tookMs: 250 };

test('createMirrorMetrics() sums over all Endpoints (MIR-09)', () => {
  const registry = createMetrics();
  const metrics = createMirrorMetrics(registry);
  metrics.synced(sync);
  metrics.synced({ ...sync, key: 'a/db' });
  metrics.synced({ ...sync, counts: { ...counts, endpoints: 0, slices: 0, minSlices: 0 } });
  const text = registry.text();
  for (const line of [
    'endpoint_slice_mirroring_controller_endpoints_desired 7',
    'endpoint_slice_mirroring_controller_num_endpoint_slices 2',
    'endpoint_slice_mirroring_controller_desired_endpoint_slices 1',
    'endpoint_slice_mirroring_controller_endpoints_updated_per_sync_sum 6',
    'endpoint_slice_mirroring_controller_addresses_skipped_per_sync_sum 12',
    'endpoint_slice_mirroring_controller_endpoints_sync_duration_sum 0.75',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
});
