import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Subject } from '../../kinds/rbac/types.ts';
import { exampleBinding, toGroup, toUser } from './example.ts';
import { type Binding, findGrant, type GrantIndex, indexGrants } from './grant-index.ts';

const bind = (name: string, subjects: readonly Subject[]): Binding =>
  exampleBinding({ namespace: 'ns', name, role: 'Role/r', subjects });
const users = (count: number): readonly Subject[] =>
  Array.from({ length: count }, (_, n) => toUser(`u${n}`));

function grantsOf(index: GrantIndex, name: string, groups: readonly string[] = []): string[] {
  const found: string[] = [];
  findGrant(index, { user: { name, groups }, namespace: 'ns' }, ({ binding }) => {
    found.push(binding.metadata.name ?? '');
    return false;
  });
  return found;
}

test('findGrant() finds the members of small and of large bindings', () => {
  const account: Subject = { kind: 'ServiceAccount', name: 'a' };
  const index = indexGrants([
    bind('small', [toUser('u1'), toUser('u1'), toGroup('team')]),
    bind('large', [...users(1_000), toGroup('team'), account]),
  ]);
  assert.deepEqual(grantsOf(index, 'u1'), ['small', 'large']);
  assert.deepEqual(grantsOf(index, 'u999'), ['large']);
  assert.deepEqual(grantsOf(index, 'other', ['some', 'team']), ['small', 'large']);
  assert.deepEqual(grantsOf(index, 'system:serviceaccount:ns:a'), ['large']);
  assert.deepEqual(grantsOf(index, 'u1000'), []);
});

test('indexGrants() reads the subjects of a large binding once, however often other bindings change', () => {
  let reads = 0;
  const subjects = users(1_000).map((subject) => ({
    ...subject,
    get name(): string {
      reads += 1;
      return subject.name;
    },
  }));
  const large = bind('large', subjects);
  indexGrants([large]);
  const before = reads;
  const index = indexGrants([large, bind('another', users(1))]);
  assert.deepEqual(grantsOf(index, 'u0'), ['another', 'large']);
  assert.equal(reads, before);
});
