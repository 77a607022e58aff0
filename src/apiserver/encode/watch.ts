// Events of a watch, one JSON line or one protobuf frame each. An event is encoded once and its bytes shared by every watcher.
import type { Status } from '../../meta/api-error.ts';
import type { Cached, ChangeType } from '../cache/resource-cache.ts';
import { type Encodable, type EncodedKind, isCached, jsonOf, objectOf } from './body.ts';
import type { Representation } from './negotiate.ts';
import { assertShape, partialMetadata } from './partial-metadata.ts';
import { protobufEvent, protobufMetadata, protobufObject, protobufStatus } from './protobuf.ts';
import { emptyRow, row, table } from './table.ts';

export type EventType = ChangeType | 'BOOKMARK' | 'ERROR';
/** A payload is an object, or for ERROR a Status. */
export type WatchEncoder = (type: EventType, payload: Encodable | Status) => Buffer;

/** One for each watch: a Table names its columns in its first event only. */
export function createWatchEncoder(
  representation: Representation,
  kind: EncodedKind,
  now: () => number,
): WatchEncoder {
  assertShape(representation, kind, 'object');
  if (representation.format === 'protobuf') return createProtobufEncoder(representation, kind);
  switch (representation.as) {
    case 'Table':
      return createTableEncoder(representation, kind, now);
    case 'PartialObjectMetadata': {
      const { metaVersion } = representation;
      return shared(`metadata ${metaVersion}`, {
        ...jsonLines,
        object: (value) => Buffer.from(partialMetadata(objectOf(value), metaVersion)),
      });
    }
    default:
      return shared('object', { ...jsonLines, object: jsonOf });
  }
}

/** How events become bytes. */
type Form = {
  readonly object: (value: Encodable) => Buffer;
  readonly status: (status: Status) => Buffer;
  readonly event: (type: EventType, object: Buffer) => Buffer;
};

const jsonLines = {
  status: (status: Status): Buffer => Buffer.from(JSON.stringify(status)),
  event: line,
};

function createProtobufEncoder(
  { as, metaVersion }: Representation,
  kind: EncodedKind,
): WatchEncoder {
  const frames = { status: protobufStatus, event: protobufEvent };
  if (as === 'PartialObjectMetadata') {
    const object = (value: Encodable) => protobufMetadata(objectOf(value), metaVersion);
    return shared(`protobuf metadata ${metaVersion}`, { ...frames, object });
  }
  const object = (value: Encodable) => protobufObject(kind, objectOf(value));
  return shared('protobuf object', { ...frames, object });
}

function createTableEncoder(
  representation: Representation,
  kind: EncodedKind,
  now: () => number,
): WatchEncoder {
  let withColumns = true;
  return (type, payload) => {
    if (isStatus(payload)) return line('ERROR', jsonLines.status(payload));
    const rows = [
      type === 'BOOKMARK'
        ? emptyRow(representation, kind, payload)
        : row(representation, kind, payload, now()),
    ];
    const { resourceVersion } = objectOf(payload).metadata;
    const metadata = resourceVersion === undefined ? {} : { resourceVersion };
    const json = table(representation, kind, { metadata, rows, withColumns });
    withColumns = false;
    return line(type, json);
  };
}

function shared(shape: string, { object, status, event }: Form): WatchEncoder {
  return (type, payload) => {
    if (isStatus(payload)) return event('ERROR', status(payload));
    if (!isCached(payload)) return event(type, object(payload));
    const recent = recentEvents(`${type} ${shape}`);
    let bytes = recent.get(payload);
    if (bytes === undefined) {
      bytes = event(type, object(payload));
      if (recent.size >= recentLimit) recent.clear();
      recent.set(payload, bytes);
    }
    return bytes;
  };
}

/**
 * A change reaches all watchers at once, so only the newest events need keeping; more would hold a
 * second copy of every object that was ever sent.
 */
const recentLimit = 64;
const recentByForm = new Map<string, Map<Cached, Buffer>>();

function recentEvents(form: string): Map<Cached, Buffer> {
  let recent = recentByForm.get(form);
  if (recent === undefined) {
    recent = new Map();
    recentByForm.set(form, recent);
  }
  return recent;
}

function line(type: EventType, json: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), json, lineEnd]);
}

const lineEnd = Buffer.from('}\n');

function isStatus(payload: Encodable | Status): payload is Status {
  return !isCached(payload) && payload.kind === 'Status' && payload.apiVersion === 'v1';
}
