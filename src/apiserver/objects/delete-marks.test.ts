import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allKinds } from '../../kinds/all.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { type DeleteOptions, markDeleted } from './delete-marks.ts';

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

test('the first delete of a namespace marks it, also where nothing holds it', () => {
  for (const finalizers of [['kubernetes'], []]) {
    const { marked: after, gone } = run('Namespace', namespace({ name: 'a' }, finalizers));
    assert.equal(gone, false);
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
  test(`the first delete of a namespace obeys ${JSON.stringify(options)}`, () => {
    const { marked: after } = run('Namespace', namespace({ name: 'a' }, ['kubernetes']), options);
    assert.deepEqual(after.metadata.finalizers, finalizers);
  });
}

test('a namespace that is held ignores what later deletes ask for', () => {
  const going = namespace({ name: 'a', deletionTimestamp: marked }, ['kubernetes']);
  const { isSame, gone } = run('Namespace', going, { propagationPolicy: 'Foreground' });
  assert.deepEqual([isSame, gone], [true, false]);
});

test('a later delete removes a namespace that nothing holds any more', () => {
  const going = namespace({ name: 'a', deletionTimestamp: marked });
  assert.equal(run('Namespace', going).gone, true);
  const kept = run('Namespace', going, { propagationPolicy: 'Orphan' });
  assert.equal(kept.gone, false);
  assert.deepEqual(kept.marked.metadata, {
    name: 'a',
    deletionTimestamp: marked,
    deletionGracePeriodSeconds: 0,
    finalizers: ['orphan'],
  });
});

const pod = { metadata: { deletionTimestamp: marked, deletionGracePeriodSeconds: 30 } };

test('a delete that does not shorten the time of a pod changes nothing, whatever else it asks', () => {
  assert.equal(run('Pod', pod, { propagationPolicy: 'Foreground' }).isSame, true);
  assert.equal(
    run('Pod', pod, { gracePeriodSeconds: 30, propagationPolicy: 'Orphan' }).isSame,
    true,
  );
  const shorter = run('Pod', pod, { gracePeriodSeconds: 10, propagationPolicy: 'Orphan' });
  assert.deepEqual(shorter.marked.metadata.finalizers, ['orphan']);
  assert.equal(shorter.marked.metadata.deletionGracePeriodSeconds, 10);
});

test('a later delete of an object that waits for finalizers may change the policy', () => {
  const metadata = {
    deletionTimestamp: marked,
    deletionGracePeriodSeconds: 0,
    finalizers: ['orphan'],
  };
  const { marked: after, gone } = run(
    'ConfigMap',
    { metadata },
    { propagationPolicy: 'Background' },
  );
  assert.deepEqual([after.metadata.finalizers, gone], [undefined, true]);
});
