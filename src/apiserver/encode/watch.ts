// Events of a watch, one JSON line each. An event is encoded once and its bytes shared by every watcher.
import type { Status } from '../../meta/api-error.ts';
import type { Cached, ChangeType } from '../resource-cache.ts';
import { type Encodable, type EncodedKind, isCached, jsonOf, objectOf } from './body.ts';
import type { Representation } from './negotiate.ts';
import { assertShape, partialMetadata } from './partial-metadata.ts';
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
  switch (representation.as) {
    case 'Table':
      return createTableEncoder(representation, kind, now);
    case 'PartialObjectMetadata': {
      const { metaVersion } = representation;
      return shared(`metadata ${metaVersion}`, (value) =>
        Buffer.from(partialMetadata(objectOf(value), metaVersion)),
      );
    }
    default:
      return shared('object', jsonOf);
  }
}

function createTableEncoder(
  representation: Representation,
  kind: EncodedKind,
  now: () => number,
): WatchEncoder {
  let withColumns = true;
  return (type, payload) => {
    if (isStatus(payload)) return errorLine(payload);
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

function shared(shape: string, encode: (value: Encodable) => Buffer): WatchEncoder {
  return (type, payload) => {
    if (isStatus(payload)) return errorLine(payload);
    if (!isCached(payload)) return line(type, encode(payload));
    const recent = recentEvents(`${type} ${shape}`);
    let bytes = recent.get(payload);
    if (bytes === undefined) {
      bytes = line(type, encode(payload));
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

function errorLine(status: Status): Buffer {
  return line('ERROR', Buffer.from(JSON.stringify(status)));
}

function isStatus(payload: Encodable | Status): payload is Status {
  return !isCached(payload) && payload.kind === 'Status' && payload.apiVersion === 'v1';
}
