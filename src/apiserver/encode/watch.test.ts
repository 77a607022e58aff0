import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../meta/api-error.ts';
import { cachedWidget, widgetDefinition as kind } from './example.ts';
import { plainJson, type Representation } from './negotiate.ts';
import { encodeStatus } from './status.ts';
import { createWatchEncoder } from './watch.ts';

const now = Date.parse('2024-01-01T00:01:30Z');
const a = cachedWidget('a', 7);
const as = (more: Partial<Representation>): Representation => ({ ...plainJson, ...more });
const parse = (body: Buffer) => JSON.parse(body.toString('utf8'));

const partialA = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: a.object.metadata,
};

describe('createWatchEncoder()', () => {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: 'Expired',
    code: 410,
  };
  const bookmark = {
    kind: 'Widget',
    apiVersion: 'example.k8s.io/v1',
    metadata: { resourceVersion: '12', annotations: { 'k8s.io/initial-events-end': 'true' } },
  };

  it('writes one line an event', () => {
    const encode = createWatchEncoder(plainJson, kind, () => now);
    assert.equal(encode('ADDED', a).toString(), `{"type":"ADDED","object":${a.json.toString()}}\n`);
  });

  it('shares the bytes of an event among watchers, for each type of event', () => {
    const [one, two] = [1, 2].map(() => createWatchEncoder(plainJson, kind, () => now));
    assert.equal(one?.('ADDED', a), two?.('ADDED', a));
    assert.notEqual(one?.('ADDED', a), two?.('DELETED', a));
    assert.equal(
      createWatchEncoder(
        as({ as: 'PartialObjectMetadata' }),
        kind,
        () => now,
      )('ADDED', a).toString(),
      `{"type":"ADDED","object":${JSON.stringify(partialA)}}\n`,
    );
  });

  it('names the columns of a Table once, and leaves the cells of a bookmark empty (KCT-10)', () => {
    const encode = createWatchEncoder(as({ as: 'Table' }), kind, () => now);
    const first = parse(encode('ADDED', a)).object;
    const second = parse(encode('BOOKMARK', bookmark)).object;
    assert.equal(first.columnDefinitions.length, 3);
    assert.deepEqual(second, {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '12' },
      columnDefinitions: null,
      rows: [{ cells: ['', 0, ''], object: { ...partialA, metadata: bookmark.metadata } }],
    });
  });

  for (const shape of ['object', 'Table', 'PartialObjectMetadata'] as const) {
    it(`leaves a Status as it is when watching as ${shape}`, () => {
      const encode = createWatchEncoder(as({ as: shape }), kind, () => now);
      assert.deepEqual(parse(encode('ERROR', status)), { type: 'ERROR', object: status });
    });
  }

  it('writes a Status in YAML when nothing streams', () =>
    assert.match(encodeStatus(as({ format: 'yaml' }), status).body.toString(), /^code: 410$/m));
});
