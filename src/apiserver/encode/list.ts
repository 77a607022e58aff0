// Encodes a list as a response body. Plain JSON copies the encoded bytes of the cached objects.
import { groupVersion } from '../../meta/object.ts';
import type { Cached } from '../cache/resource-cache.ts';
import { runAtOnce, stepObjects } from '../limits/pace.ts';
import { type EncodedBody, type EncodedKind, toBody } from './body.ts';
import { contentType, type Representation } from './negotiate.ts';
import { assertShape, partialMetadata } from './partial-metadata.ts';
import { protobufList, protobufMetadataList } from './protobuf.ts';
import { type ListMeta, row, tableHead } from './table.ts';

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
  return runAtOnce(encodeListSteps(representation, kind, list));
}

/** In steps after which others may go first. */
export function* encodeListSteps(
  representation: Representation,
  kind: EncodedKind,
  list: ListParts,
): Generator<undefined, EncodedBody> {
  assertShape(representation, kind, 'list');
  if (representation.format === 'protobuf') {
    const body = yield* protobufForm(representation, kind, list);
    return { contentType: contentType(representation), body };
  }
  return toBody(representation, yield* shape(representation, kind, list));
}

function* protobufForm(
  { as, metaVersion }: Representation,
  kind: EncodedKind,
  { items, metadata }: ListParts,
): Generator<undefined, Buffer> {
  const list = { items, metadata };
  return as === 'PartialObjectMetadataList'
    ? yield* protobufMetadataList(list, metaVersion)
    : yield* protobufList(kind, list);
}

function* shape(
  representation: Representation,
  kind: EncodedKind,
  { items, metadata, now }: ListParts,
): Generator<undefined, Buffer> {
  switch (representation.as) {
    case 'Table': {
      const head = tableHead(representation, kind, { metadata, withColumns: true });
      return yield* joined(head, items, (item) => row(representation, kind, item, now));
    }
    case 'PartialObjectMetadataList': {
      const { metaVersion } = representation;
      const head = listHead(representation.as, `meta.k8s.io/${metaVersion}`, metadata);
      return yield* joined(head, items, (item) => partialMetadata(item.object, metaVersion));
    }
    default:
      return yield* plainList(kind, items, metadata);
  }
}

/** What begins with the head, and ends with a list of these texts. */
function* joined(
  head: string,
  items: readonly Cached[],
  textOf: (item: Cached) => string,
): Generator<undefined, Buffer> {
  const pieces: Buffer[] = [];
  let text = head;
  for (const [index, item] of items.entries()) {
    text += index === 0 ? textOf(item) : `,${textOf(item)}`;
    if (index % stepObjects !== stepObjects - 1) continue;
    pieces.push(Buffer.from(text));
    text = '';
    yield;
  }
  pieces.push(Buffer.from(`${text}]}`));
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

function listHead(kind: string, apiVersion: string, metadata: ListMeta): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
}

const comma = 0x2c;
const brace = 0x7b;

/** Items of a list carry no kind and apiVersion: each is `{` and what follows its prefix. */
function* plainList(
  kind: EncodedKind,
  items: readonly Cached[],
  metadata: ListMeta,
): Generator<undefined, Buffer> {
  const apiVersion = groupVersion(kind.group, kind.version);
  const head = Buffer.from(listHead(`${kind.kind}List`, apiVersion, metadata));
  let size = head.length + 2;
  for (const item of items) size += item.json.length - item.prefixLength + 2;
  const body = Buffer.allocUnsafe(size);
  let at = head.copy(body);
  for (let index = 0; index < items.length; index += 1) {
    const { json, prefixLength } = items[index] as Cached;
    if (index > 0) body[at++] = comma;
    body[at++] = brace;
    at += json.copy(body, at, prefixLength);
    if (index % stepObjects === stepObjects - 1) yield;
  }
  at += body.write(']}', at, 'latin1');
  return body.subarray(0, at);
}
