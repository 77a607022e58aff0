// Encodes one object as a response body.
import type { KubeObject } from '../../meta/object.ts';
import {
  type Encodable,
  type EncodedBody,
  type EncodedKind,
  jsonOf,
  objectOf,
  toBody,
} from './body.ts';
import { contentType, type Representation } from './negotiate.ts';
import { assertShape, partialMetadata } from './partial-metadata.ts';
import { protobufMetadata, protobufObject } from './protobuf.ts';
import { row, table } from './table.ts';

/** `now` in milliseconds, for the ages that a Table shows. */
export function encodeObject(
  representation: Representation,
  kind: EncodedKind,
  value: Encodable,
  now: number,
): EncodedBody {
  assertShape(representation, kind, 'object');
  if (representation.format === 'protobuf') {
    const body = protobufForm(representation, kind, objectOf(value));
    return { contentType: contentType(representation), body };
  }
  return toBody(representation, shape(representation, kind, value, now));
}

function protobufForm(
  { as, metaVersion }: Representation,
  kind: EncodedKind,
  object: KubeObject,
): Buffer {
  return as === 'PartialObjectMetadata'
    ? protobufMetadata(object, metaVersion)
    : protobufObject(kind, object);
}

function shape(
  representation: Representation,
  kind: EncodedKind,
  value: Encodable,
  now: number,
): Buffer {
  switch (representation.as) {
    case 'Table': {
      const { resourceVersion } = objectOf(value).metadata;
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      const rows = [row(representation, kind, value, now)];
      return table(representation, kind, { metadata, rows, withColumns: true });
    }
    case 'PartialObjectMetadata':
      return Buffer.from(partialMetadata(objectOf(value), representation.metaVersion));
    default:
      return jsonOf(value);
  }
}
