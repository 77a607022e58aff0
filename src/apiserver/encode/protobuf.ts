// Responses in protobuf: objects, lists and Status in their envelopes, and watch frames.
import type { Status } from '../../meta/api-error.ts';
import { groupVersion, type KubeObject, objectMeta } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { toProtobuf } from '../../schema/protobuf/encode.ts';
import { toEnvelope } from '../../schema/protobuf/envelope.ts';
import {
  newWriter,
  writeBytes,
  writeNested,
  writeString,
  written,
} from '../../schema/protobuf/writer.ts';
import { stepObjects } from '../limits/pace.ts';
import { listMeta, status as statusSchema } from '../openapi/meta-types.ts';
import type { EncodedKind } from './body.ts';
import type { MetaVersion } from './negotiate.ts';

export function protobufObject(kind: EncodedKind, object: KubeObject): Buffer {
  return toEnvelope({
    apiVersion: groupVersion(kind.group, kind.version),
    kind: kind.kind,
    message: toProtobuf(kind.schema, object),
  });
}

export function protobufStatus(status: Omit<Status, 'code'>): Buffer {
  const message = toProtobuf(statusSchema, status);
  return toEnvelope({ apiVersion: 'v1', kind: 'Status', message });
}

export function protobufMetadata({ metadata }: KubeObject, version: MetaVersion): Buffer {
  return toEnvelope({
    apiVersion: `meta.k8s.io/${version}`,
    kind: 'PartialObjectMetadata',
    message: toProtobuf(partialObject, { metadata }),
  });
}

const partialObject = s.struct('PartialObjectMetadata', { metadata: objectMeta }, { numbers: [1] });

export type ProtobufList = {
  readonly items: readonly { readonly object: KubeObject }[];
  readonly metadata: s.Static<typeof listMeta>;
};

type ListSteps = Generator<undefined, Buffer>;

export function* protobufList(kind: EncodedKind, list: ProtobufList): ListSteps {
  return toEnvelope({
    apiVersion: groupVersion(kind.group, kind.version),
    kind: `${kind.kind}List`,
    message: yield* listMessage(kind.schema, list),
  });
}

export function* protobufMetadataList(list: ProtobufList, version: MetaVersion): ListSteps {
  return toEnvelope({
    apiVersion: `meta.k8s.io/${version}`,
    kind: 'PartialObjectMetadataList',
    message: yield* listMessage(partialObject, list),
  });
}

/** Some items at a time: messages that follow each other are one, with the items of all. */
function* listMessage(schema: s.StructNode, { metadata, items }: ProtobufList): ListSteps {
  const { head, rest } = listSchemas(schema);
  const pieces: Buffer[] = [];
  let at = 0;
  do {
    const some = items.slice(at, at + stepObjects).map(({ object }) => object);
    const part = { metadata, items: some };
    pieces.push(at === 0 ? toProtobuf(head, part) : toProtobuf(rest, { items: some }));
    at += stepObjects;
    yield;
  } while (at < items.length);
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

type ListSchemas = {
  /** With the metadata of the list. */
  readonly head: s.StructNode;
  readonly rest: s.StructNode;
};

const knownLists = new WeakMap<s.StructNode, ListSchemas>();

function listSchemas(schema: s.StructNode): ListSchemas {
  let known = knownLists.get(schema);
  if (known === undefined) {
    const [name, items] = [`${schema.name}List`, s.list(schema)];
    known = {
      head: s.struct(name, { metadata: listMeta, items }, { numbers: [1, 2] }),
      rest: s.struct(name, { items }, { numbers: [2] }),
    };
    knownLists.set(schema, known);
  }
  return known;
}

const frameLengthBytes = 4;

/**
 * One event of a watch: its length as four bytes, then a WatchEvent that holds the object in its envelope. The
 * event itself has no envelope (apimachinery's raw protobuf serializer).
 */
export function protobufEvent(type: string, object: Buffer): Buffer {
  const writer = newWriter();
  writeNested(writer, 2, () => writeBytes(writer, 1, object));
  writeString(writer, 1, type);
  const event = written(writer);
  const length = Buffer.alloc(frameLengthBytes);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
