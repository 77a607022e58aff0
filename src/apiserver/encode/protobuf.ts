// Answers in protobuf: objects, lists and Status in their envelopes, and the frames of a watch.
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
  readonly items: readonly KubeObject[];
  readonly metadata: s.Static<typeof listMeta>;
};

export function protobufList(kind: EncodedKind, list: ProtobufList): Buffer {
  return toEnvelope({
    apiVersion: groupVersion(kind.group, kind.version),
    kind: `${kind.kind}List`,
    message: toProtobuf(listSchema(kind.schema), list),
  });
}

export function protobufMetadataList(list: ProtobufList, version: MetaVersion): Buffer {
  return toEnvelope({
    apiVersion: `meta.k8s.io/${version}`,
    kind: 'PartialObjectMetadataList',
    message: toProtobuf(listSchema(partialObject), list),
  });
}

const listSchemas = new WeakMap<s.StructNode, s.StructNode>();

function listSchema(items: s.StructNode): s.StructNode {
  let schema = listSchemas.get(items);
  if (schema === undefined) {
    const fields = { metadata: listMeta, items: s.list(items) };
    schema = s.struct(`${items.name}List`, fields, { numbers: [1, 2] });
    listSchemas.set(items, schema);
  }
  return schema;
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
