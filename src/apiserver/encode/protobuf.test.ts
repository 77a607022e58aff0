import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../meta/api-error.ts';
import { objectMeta } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { fromProtobuf } from '../../schema/protobuf/decode.ts';
import { openEnvelope } from '../../schema/protobuf/envelope.ts';
import { listMeta, status as statusSchema } from '../openapi/meta-types.ts';
import { cachedWidget, widgetDefinition as kind, widget } from './example.ts';
import { encodeList } from './list.ts';
import { plainJson, type Representation, streamContentType } from './negotiate.ts';
import { encodeObject } from './object.ts';
import { encodeStatus } from './status.ts';
import { createWatchEncoder } from './watch.ts';

const now = 0;
const a = cachedWidget('a', 7);
const b = cachedWidget('b', 9, 2);
const mediaType = 'application/vnd.kubernetes.protobuf';
const protobuf = (more: Partial<Representation> = {}): Representation => ({
  ...plainJson,
  format: 'protobuf',
  ...more,
});

function open(schema: s.StructNode, body: Uint8Array): object {
  const { kind, apiVersion, message } = openEnvelope(body);
  return { kind, apiVersion, ...fromProtobuf(schema, message) };
}

const partial = s.struct('PartialObjectMetadata', { metadata: objectMeta }, { numbers: [1] });
const listOf = (items: s.StructNode): s.StructNode =>
  s.struct('List', { metadata: listMeta, items: s.list(items) }, { numbers: [1, 2] });
const withoutType = (object: object): object => {
  const { kind: _kind, apiVersion: _version, ...rest } = object as Record<string, unknown>;
  return rest;
};

const failure: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: 'Expired',
  details: { causes: [{ field: 'spec' }], retryAfterSeconds: 1 },
  code: 410,
};

describe('answers in protobuf', () => {
  it('are objects', () => {
    const { contentType, body } = encodeObject(protobuf(), kind, a, now);
    assert.equal(contentType, mediaType);
    assert.deepEqual(open(widget, body), a.object);
  });

  it('are the metadata of objects', () => {
    const { body } = encodeObject(protobuf({ as: 'PartialObjectMetadata' }), kind, a, now);
    assert.deepEqual(open(partial, body), {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: a.object.metadata,
    });
  });

  const metadata = { resourceVersion: '9', continue: 'x', remainingItemCount: 3 };
  const list = { items: [a, b], metadata, now };

  it('are lists', () => {
    const { contentType, body } = encodeList(protobuf(), kind, list);
    assert.equal(contentType, mediaType);
    assert.deepEqual(open(listOf(widget), body), {
      kind: 'WidgetList',
      apiVersion: 'example.k8s.io/v1',
      metadata,
      items: [withoutType(a.object), withoutType(b.object)],
    });
  });

  it('are lists of metadata', () => {
    const { body } = encodeList(protobuf({ as: 'PartialObjectMetadataList' }), kind, list);
    assert.deepEqual(open(listOf(partial), body), {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: [{ metadata: a.object.metadata }, { metadata: b.object.metadata }],
    });
  });

  it('are Status', () => {
    const { contentType, body } = encodeStatus(protobuf(), failure);
    assert.equal(contentType, mediaType);
    assert.deepEqual(open(statusSchema, body), failure);
  });
});

describe('createWatchEncoder() of protobuf', () => {
  const watchEvent = s.struct(
    'WatchEvent',
    { type: s.string(), raw: s.bytes() },
    { numbers: [1, [2, 1]] },
  );

  function openFrame(schema: s.StructNode, frame: Buffer): readonly [unknown, object] {
    assert.equal(frame.readUInt32BE(0), frame.length - 4);
    const { type, raw } = fromProtobuf(watchEvent, frame.subarray(4));
    return [type, open(schema, Buffer.from(String(raw), 'base64'))];
  }

  it('is announced as a stream', () =>
    assert.equal(streamContentType(protobuf()), `${mediaType};stream=watch`));

  it('frames events, and shares their bytes', () => {
    const [one, two] = [1, 2].map(() => createWatchEncoder(protobuf(), kind, () => now));
    const frame = one?.('MODIFIED', a);
    assert.ok(frame !== undefined);
    assert.deepEqual(openFrame(widget, frame), ['MODIFIED', a.object]);
    assert.equal(two?.('MODIFIED', a), frame);
  });

  it('frames bookmarks, metadata and errors', () => {
    const encode = createWatchEncoder(protobuf(), kind, () => now);
    const bookmark = {
      kind: 'Widget',
      apiVersion: 'example.k8s.io/v1',
      metadata: { resourceVersion: '12' },
    };
    assert.deepEqual(openFrame(widget, encode('BOOKMARK', bookmark)), ['BOOKMARK', bookmark]);
    assert.deepEqual(openFrame(statusSchema, encode('ERROR', failure)), ['ERROR', failure]);
    const reduced = createWatchEncoder(protobuf({ as: 'PartialObjectMetadata' }), kind, () => now);
    const [type, object] = openFrame(partial, reduced('ADDED', a));
    assert.deepEqual([type, withoutType(object)], ['ADDED', { metadata: a.object.metadata }]);
  });
});
