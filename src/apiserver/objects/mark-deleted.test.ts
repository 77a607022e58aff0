import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allKinds } from '../../kinds/all.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { type DeleteOptions, markDeleted } from './mark-deleted.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const marked = '2026-01-02T03:04:00Z';

function run(kind: string, object: object, options: DeleteOptions = {}) {
  const definition = allKinds.find((one) => one.kind === kind);
  assert.ok(definition);
  const whole = { metadata: {}, spec: {}, status: {}, ...object } as unknown as KubeObject;
  const result = markDeleted({ resource: { definition }, options, now }, whole);
  return { ...result, isSame: result.marked === whole };
}

const namespace = (metadata: ObjectMeta, finalizers: readonly string[] = []) => ({
  metadata,
  spec: finalizers.length === 0 ? {} : { finalizers },
});

test('markDeleted() only marks a namespace at the first delete, also without finalizers', () => {
  for (const finalizers of [['kubernetes'], []]) {
    const { marked: after, isRemovable } = run('Namespace', namespace({ name: 'a' }, finalizers));
    assert.equal(isRemovable, false);
    assert.deepEqual(after.metadata, { name: 'a', deletionTimestamp: '2026-01-02T03:04:05Z' });
    assert.deepEqual((after as { status?: unknown }).status, { phase: 'Terminating' });
  }
});

const policies: readonly (readonly [DeleteOptions, readonly string[] | undefined])[] = [
  [{ propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
  [{ propagationPolicy: 'Orphan' }, ['orphan']],
  [{ propagationPolicy: 'Background' }, undefined],
  [{ orphanDependents: true }, ['orphan']],
  [{ orphanDependents: false }, ['foregroundDeletion']],
];
for (const [options, finalizers] of policies) {
  test(`markDeleted() applies ${JSON.stringify(options)} at the first delete of a namespace`, () => {
    const { marked: after } = run('Namespace', namespace({ name: 'a' }, ['kubernetes']), options);
    assert.deepEqual(after.metadata.finalizers, finalizers);
  });
}

test('markDeleted() ignores later deletes of a namespace with finalizers in its spec', () => {
  const terminating = namespace({ name: 'a', deletionTimestamp: marked }, ['kubernetes']);
  const { isSame, isRemovable } = run('Namespace', terminating, {
    propagationPolicy: 'Foreground',
  });
  assert.deepEqual([isSame, isRemovable], [true, false]);
});

test('markDeleted() removes a namespace without finalizers at a later delete', () => {
  const terminating = namespace({ name: 'a', deletionTimestamp: marked });
  assert.equal(run('Namespace', terminating).isRemovable, true);
  const waiting = run('Namespace', terminating, { propagationPolicy: 'Orphan' });
  assert.equal(waiting.isRemovable, false);
  assert.deepEqual(waiting.marked.metadata, {
    name: 'a',
    deletionTimestamp: marked,
    deletionGracePeriodSeconds: 0,
    finalizers: ['orphan'],
  });
});

const pod = { metadata: { deletionTimestamp: marked, deletionGracePeriodSeconds: 30 } };

test('markDeleted() ignores a delete that does not shorten the grace period of a pod, with all its options', () => {
  assert.equal(run('Pod', pod, { propagationPolicy: 'Foreground' }).isSame, true);
  assert.equal(
    run('Pod', pod, { gracePeriodSeconds: 30, propagationPolicy: 'Orphan' }).isSame,
    true,
  );
  const shorter = run('Pod', pod, { gracePeriodSeconds: 10, propagationPolicy: 'Orphan' });
  assert.deepEqual(shorter.marked.metadata.finalizers, ['orphan']);
  assert.equal(shorter.marked.metadata.deletionGracePeriodSeconds, 10);
});

test('markDeleted() changes the policy of an object that waits for finalizers', () => {
  const metadata = {
    deletionTimestamp: marked,
    deletionGracePeriodSeconds: 0,
    finalizers: ['orphan'],
  };
  const { marked: after, isRemovable } = run(
    'ConfigMap',
    { metadata },
    { propagationPolicy: 'Background' },
  );
  assert.deepEqual([after.metadata.finalizers, isRemovable], [undefined, true]);
});
