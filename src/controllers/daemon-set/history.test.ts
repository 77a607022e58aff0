import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '../../kinds/controller-revision/types.ts';
import { daemonOn, exampleDaemonSet } from './example.ts';
import { expiredRevisions, hashOf, newRevision, readHistory } from './history.ts';

const set = exampleDaemonSet({ spec: { revisionHistoryLimit: 1 } });
const other = (grace: number) =>
  exampleDaemonSet({ template: { terminationGracePeriodSeconds: grace } });
const names = (revisions: readonly ControllerRevision[]) => revisions.map(hashOf);

test('newRevision() is named and labelled by the hash of the template', () => {
  const revision = newRevision(set, 4);
  const hash = hashOf(revision);
  assert.equal(revision.metadata.name, `d-${hash}`);
  assert.deepEqual(revision.metadata.labels, { app: 'web', 'controller-revision-hash': hash });
  assert.equal(revision.revision, 4);
  const collided = { ...set, status: { ...set.status, collisionCount: 1 } };
  assert.notEqual(hashOf(newRevision(collided, 4)), hash);
});

test('readHistory() finds the current revision and numbers it after all others', () => {
  const current = newRevision(set, 1);
  const old = [newRevision(other(7), 3), newRevision(other(5), 2)];
  const history = readHistory(set, [current, ...old]);
  assert.equal(history.current, current);
  assert.equal(history.number, 4);
  assert.deepEqual(
    history.old.map(({ revision }) => revision),
    [2, 3],
  );
  assert.deepEqual(readHistory(set, []), { number: 1, old: [], duplicates: [] });
});

test('readHistory() retains the latest of several revisions of one template', () => {
  const history = readHistory(set, [newRevision(set, 2), newRevision(set, 5)]);
  assert.equal(history.current?.revision, 5);
  assert.equal(history.number, 5);
  assert.deepEqual(
    history.duplicates.map(({ revision }) => revision),
    [2],
  );
});

test('expiredRevisions() are the earliest beyond the limit that no pod is of', () => {
  const old = [other(1), other(2), other(3)].map((one, index) => newRevision(one, index + 1));
  const history = readHistory(set, old);
  assert.deepEqual(names(expiredRevisions(set, history, [])), names(old.slice(0, 2)));
  const pod = daemonOn('a', { hash: hashOf(old[0] as ControllerRevision) });
  assert.deepEqual(names(expiredRevisions(set, history, [pod])), names(old.slice(1)));
});
