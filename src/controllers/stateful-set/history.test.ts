import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import { exampleStatefulSet, member } from './example.ts';
import {
  currentRevisionOf,
  expiredRevisions,
  newRevision,
  updateRevisionOf,
  versionOf,
} from './history.ts';

const set = exampleStatefulSet({ revisionHistoryLimit: 1 });
const other = (image: string) =>
  exampleStatefulSet({
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image }] },
    },
  });
const revision = (number: number, of = set): ControllerRevision => {
  const made = newRevision(of, number, 0);
  return { ...made, metadata: { ...made.metadata, uid: `${number}` } };
};

test('newRevision() is named by the hash, and differently after a collision', () => {
  const { metadata } = newRevision(set, 1, 0);
  const hash = metadata.labels?.['controller.kubernetes.io/hash'];
  assert.equal(metadata.name, `web-${hash}`);
  assert.notEqual(newRevision(set, 1, 1).metadata.name, metadata.name);
});

test('updateRevisionOf() creates, retains or renumbers', () => {
  const [first, second] = [revision(1), revision(2, other('a'))];
  assert.deepEqual(updateRevisionOf(set, []), { action: 'create', number: 1 });
  assert.deepEqual(updateRevisionOf(set, [first]), { action: 'none', revision: first });
  assert.deepEqual(updateRevisionOf(other('b'), [second, first]), { action: 'create', number: 3 });
  assert.deepEqual(updateRevisionOf(set, [second, first]), {
    action: 'renumber',
    revision: { ...first, revision: 3 },
  });
});

test('currentRevisionOf() finds the revision by the name in the status', () => {
  const [first, second] = [revision(1, other('a')), revision(2)];
  const status = { ...set.status, currentRevision: first.metadata.name ?? '' };
  assert.equal(currentRevisionOf({ ...set, status }, [first, second], second), first);
  assert.equal(currentRevisionOf(set, [first, second], second), second);
});

test('versionOf() reads the template of a revision, and nothing of what people made up', () => {
  const { template } = set.spec;
  assert.deepEqual(versionOf(revision(1)), { revision: revision(1).metadata.name, template });
  for (const data of [{}, { spec: { template: 1 } }, { spec: { template: { spec: [] } } }])
    assert.equal(versionOf({ ...revision(1), data }), undefined);
});

test('expiredRevisions() are the earliest that are not in use', () => {
  const all = ['a', 'b', 'c', 'd'].map((image, at) => revision(at + 1, other(image)));
  const update = revision(5);
  const pods = [member(0, { revision: all[0]?.metadata.name ?? '' })];
  const expired = (limit: number) =>
    expiredRevisions(
      { ...set, spec: { ...set.spec, revisionHistoryLimit: limit } },
      [...all, update],
      {
        pods,
        current: update,
        update,
      },
    ).map((one) => one.revision);
  assert.deepEqual(expired(1), [2, 3]);
  assert.deepEqual(expired(0), [2, 3, 4]);
  assert.deepEqual(expired(-1), []);
});
