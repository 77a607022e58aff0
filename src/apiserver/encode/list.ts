// A list as the body of an answer. The plain form copies the bytes that the objects already have.
import { groupVersion } from '../../meta/object.ts';
import type { Cached } from '../resource-cache.ts';
import { type EncodedBody, type EncodedKind, toBody } from './body.ts';
import { contentType, type Representation } from './negotiate.ts';
import { assertShape, partialMetadata } from './partial-metadata.ts';
import { protobufList, protobufMetadataList } from './protobuf.ts';
import { type ListMeta, row, table } from './table.ts';

export type ListParts = {
  readonly items: readonly Cached[];
  readonly metadata: ListMeta;
  /** Milliseconds, for the ages that a Table shows. */
  readonly now: number;
};

export function encodeList(
  representation: Representation,
  kind: EncodedKind,
  list: ListParts,
): EncodedBody {
  assertShape(representation, kind, 'list');
  if (representation.format === 'protobuf') {
    const body = protobufForm(representation, kind, list);
    return { contentType: contentType(representation), body };
  }
  return toBody(representation, shape(representation, kind, list));
}

function protobufForm(
  { as, metaVersion }: Representation,
  kind: EncodedKind,
  { items, metadata }: ListParts,
): Buffer {
  const list = { items: items.map((item) => item.object), metadata };
  return as === 'PartialObjectMetadataList'
    ? protobufMetadataList(list, metaVersion)
    : protobufList(kind, list);
}

function shape(
  representation: Representation,
  kind: EncodedKind,
  { items, metadata, now }: ListParts,
): Buffer {
  switch (representation.as) {
    case 'Table': {
      const rows = items.map((item) => row(representation, kind, item, now));
      return table(representation, kind, { metadata, rows, withColumns: true });
    }
    case 'PartialObjectMetadataList': {
      const { metaVersion } = representation;
      const parts = items.map((item) => partialMetadata(item.object, metaVersion));
      const head = listHead(representation.as, `meta.k8s.io/${metaVersion}`, metadata);
      return Buffer.from(`${head}${parts.join(',')}]}`);
    }
    default:
      return plainList(kind, items, metadata);
  }
}

function listHead(kind: string, apiVersion: string, metadata: ListMeta): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
}

const comma = 0x2c;
const brace = 0x7b;

/** Items of a list carry no kind and apiVersion: each is `{` and what follows its prefix. */
function plainList(kind: EncodedKind, items: readonly Cached[], metadata: ListMeta): Buffer {
  const apiVersion = groupVersion(kind.group, kind.version);
  const head = Buffer.from(listHead(`${kind.kind}List`, apiVersion, metadata));
  let size = head.length + 2;
  for (const item of items) size += item.json.length - item.prefixLength + 2;
  const body = Buffer.allocUnsafe(size);
  let at = head.copy(body);
  let separated = true;
  for (const { json, prefixLength } of items) {
    if (!separated) body[at++] = comma;
    separated = false;
    body[at++] = brace;
    at += json.copy(body, at, prefixLength);
  }
  at += body.write(']}', at, 'latin1');
  return body.subarray(0, at);
}
