import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { isOrphanToSweep } from './orphans.ts';

const endpoints = (annotations = {}): Endpoints => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'a', annotations },
});

test('isOrphanToSweep() spares Endpoints with a service and those of leader elections (EPC-13)', () => {
  assert.equal(isOrphanToSweep(endpoints(), new Set<string>()), true);
  assert.equal(isOrphanToSweep(endpoints(), new Set(['a/web'])), false);
  assert.equal(isOrphanToSweep(endpoints(), new Set(['b/web'])), true);
  const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
  assert.equal(isOrphanToSweep(endpoints(leader), new Set<string>()), false);
});
