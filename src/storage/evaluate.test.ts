import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate, type StoreState } from './evaluate.ts';

const value = Buffer.from('x');
const now = 1_000;
const nothing: StoreState = { newest: () => undefined, revision: 7, now };
const standing: StoreState = {
  newest: (key) =>
    key === '/a'
      ? { revision: 5, position: 1, type: 'put', createRevision: 3 }
      : key === '/deleted'
        ? { revision: 6, position: 0, type: 'delete', createRevision: 2 }
        : undefined,
  revision: 7,
  now,
};

test('evaluate() shows later transactions the writes of earlier ones', () => {
  const make = { compare: [{ key: '/b', revision: 0 }], write: [{ put: '/b', value }] };
  const change = { compare: [{ key: '/b', revision: 8 }], write: [{ put: '/b', value }] };
  const { changes, verdicts, revision } = evaluate([make, make, change], nothing);
  assert.deepEqual(verdicts, [
    { committed: true, revision: 8 },
    {
      committed: false,
      revision: 8,
      failed: [{ compare: { key: '/b', revision: 0 }, found: changes[0] }],
    },
    { committed: true, revision: 9 },
  ]);
  assert.deepEqual(
    changes.map((each) => [each.revision, each.createRevision, each.previous]),
    [
      [8, 8, undefined],
      [9, 8, { revision: 8, position: 0 }],
    ],
  );
  assert.equal(revision, 9);
});

test('evaluate() treats a deleted key as absent', () => {
  const compare = [{ key: '/deleted', revision: 0 }];
  const { changes, verdicts } = evaluate(
    [{ compare, write: [{ put: '/deleted', value }] }],
    standing,
  );
  assert.deepEqual(verdicts, [{ committed: true, revision: 8 }]);
  assert.deepEqual([changes[0]?.createRevision, changes[0]?.previous], [8, undefined]);
});

test('evaluate() numbers only the writes that change something', () => {
  const write = [{ delete: '/deleted' }, { put: '/b', value, ttlSeconds: 2 }, { delete: '/a' }];
  const { changes } = evaluate([{ compare: [], write }], standing);
  assert.deepEqual(
    changes.map((each) => [each.type, each.key, each.position, each.isLast, each.expiresAt]),
    [
      ['put', '/b', 0, false, 3_000],
      ['delete', '/a', 1, true, undefined],
    ],
  );
  assert.deepEqual(changes[1]?.previous, { revision: 5, position: 1 });
});
