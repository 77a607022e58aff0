// Default roles across restarts: what they have lost comes back, what was added stays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRole } from '../../../src/kinds/cluster-role/types.ts';
import type { RoleBinding } from '../../../src/kinds/role-binding/types.ts';
import { openMemoryStore } from '../../../src/storage/backends/memory/store.ts';
import { startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const role = `${rbac}/clusterroles/system:basic-user`;
const kept = `${rbac}/clusterroles/system:discovery`;
const binding = `${rbac}/clusterrolebindings/system:basic-user`;
const own = { verbs: ['get'], apiGroups: ['own'], resources: ['things'] };

test('a start puts back what default roles and bindings have lost', { timeout }, async () => {
  // Closed by the last server that runs on it.
  const store = openMemoryStore({ now: () => Date.now() });
  const first = await startMemoryServer({ store: { ...store, close: () => Promise.resolve() } });
  const original = await first.api.get<ClusterRole>(role);
  await first.api.patch(role, { rules: [own] });
  await first.api.patch(kept, {
    rules: [],
    metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
  });
  await first.api.patch(binding, { subjects: null });
  await first.api.delete(`${rbac}/clusterroles/view`);
  await first.stop();

  const second = await startMemoryServer({ store });
  const restored = await second.api.get<ClusterRole>(role);
  assert.deepEqual(restored.rules, [own, ...(original.rules ?? [])]);
  assert.deepEqual((await second.api.get<ClusterRole>(kept)).rules ?? [], []);
  const { subjects } = await second.api.get<RoleBinding>(binding);
  assert.deepEqual(
    subjects?.map(({ name }) => name),
    ['system:authenticated'],
  );
  assert.notEqual((await second.api.get<ClusterRole>(`${rbac}/clusterroles/view`)).rules, []);
  await second.stop();
});
