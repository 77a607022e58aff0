import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EncodedKind } from './body.ts';
import { cachedWidget, widgetDefinition as kind } from './example.ts';
import { encodeList } from './list.ts';
import { plainJson, type Representation } from './negotiate.ts';

const now = Date.parse('2024-01-01T00:01:30Z');
const a = cachedWidget('a', 7);
const b = cachedWidget('b', 9, 2);
const as = (more: Partial<Representation>): Representation => ({ ...plainJson, ...more });
const parse = (body: Buffer) => JSON.parse(body.toString('utf8'));

const partialA = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: a.object.metadata,
};

describe('encodeList()', () => {
  const list = { items: [a, b], metadata: { resourceVersion: '9' }, now };

  it('leaves kind and apiVersion out of the items', () => {
    const { kind: _a, apiVersion: _b, ...itemA } = a.object;
    const { kind: _c, apiVersion: _d, ...itemB } = b.object;
    assert.deepEqual(parse(encodeList(plainJson, kind, list).body), {
      kind: 'WidgetList',
      apiVersion: 'example.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      items: [itemA, itemB],
    });
  });

  it('writes an empty list and the place to go on from', () => {
    const metadata = { resourceVersion: '9', continue: 'x', remainingItemCount: 3 };
    assert.equal(
      encodeList(plainJson, kind, { items: [], metadata, now }).body.toString(),
      '{"kind":"WidgetList","apiVersion":"example.k8s.io/v1","metadata":{"resourceVersion":"9","continue":"x","remainingItemCount":3},"items":[]}',
    );
  });

  const objects = {
    None: [null, null],
    Object: [a.object, b.object],
    Metadata: [partialA, { ...partialA, metadata: b.object.metadata }],
  } as const;
  for (const includeObject of ['None', 'Object', 'Metadata'] as const) {
    it(`makes rows that include ${includeObject}`, () => {
      const { rows, metadata } = parse(
        encodeList(as({ as: 'Table', includeObject }), kind, list).body,
      );
      assert.deepEqual(
        rows.map((row: { object: unknown }) => row.object),
        objects[includeObject],
      );
      assert.deepEqual(metadata, { resourceVersion: '9' });
    });
  }

  it('tells the conditions of the rows that have some', () => {
    const condition = { type: 'Completed', status: 'True', reason: 'R', message: 'M' } as const;
    const judged: EncodedKind = {
      ...kind,
      rowConditions: ({ metadata }) => (metadata.name === 'b' ? [condition] : []),
    };
    const { rows } = parse(encodeList(as({ as: 'Table' }), judged, list).body);
    assert.deepEqual(
      rows.map((row: { conditions?: unknown }) => row.conditions),
      [undefined, [condition]],
    );
  });

  it('reduces every item to metadata', () =>
    assert.deepEqual(parse(encodeList(as({ as: 'PartialObjectMetadataList' }), kind, list).body), {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      items: objects.Metadata,
    }));

  it('refuses the metadata of one object, naming the type that is stored', () =>
    assert.throws(
      () =>
        encodeList(
          as({ as: 'PartialObjectMetadata' }),
          { ...kind, group: 'events.k8s.io', kind: 'Event', storedAs: { group: '' } },
          list,
        ),
      {
        message:
          'you requested PartialObjectMetadata, but the requested object is a list (*core.EventList)',
      },
    ));
});
