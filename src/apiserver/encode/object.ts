// One object as the body of an answer.
import {
  type Encodable,
  type EncodedBody,
  type EncodedKind,
  jsonOf,
  objectOf,
  toBody,
} from './body.ts';
import type { Representation } from './negotiate.ts';
import { assertShape, partialMetadata } from './partial-metadata.ts';
import { row, table } from './table.ts';

/** `now` in milliseconds, for the ages that a Table shows. */
export function encodeObject(
  representation: Representation,
  kind: EncodedKind,
  value: Encodable,
  now: number,
): EncodedBody {
  assertShape(representation, kind, 'object');
  return toBody(representation, shape(representation, kind, value, now));
}

function shape(
  representation: Representation,
  kind: EncodedKind,
  value: Encodable,
  now: number,
): Buffer {
  const object = objectOf(value);
  switch (representation.as) {
    case 'Table': {
      const { resourceVersion } = object.metadata;
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      const rows = [row(representation, kind, value, now)];
      return table(representation, kind, { metadata, rows, withColumns: true });
    }
    case 'PartialObjectMetadata':
      return Buffer.from(partialMetadata(object, representation.metaVersion));
    default:
      return jsonOf(value);
  }
}
