// The envelope of Kubernetes' protobuf bodies: four magic bytes and a runtime.Unknown with the type and bytes of the
// message.
import {
  expectType,
  lengthType,
  ProtobufError,
  type Reader,
  readBytes,
  readerOf,
  readFields,
  readNested,
  readString,
} from './wire.ts';
import { newWriter, writeNested, writeString, writeTag, writeVarint, written } from './writer.ts';

export type Envelope = {
  /** Empty when not set. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly message: Uint8Array;
};

const magic = Buffer.from('k8s\0', 'latin1');

/** Throws ProtobufError. */
export function openEnvelope(body: Uint8Array): Envelope {
  if (body.length === 0) throw new ProtobufError('empty data');
  if (!magic.equals(body.subarray(0, magic.length))) {
    throw new ProtobufError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  if (body.length === magic.length) throw new ProtobufError('empty body');
  const reader = readerOf(body.subarray(magic.length));
  let type: TypeMeta = { apiVersion: '', kind: '' };
  let message: Uint8Array = Buffer.alloc(0);
  readFields(reader, 'Unknown', (number, wireType) => {
    if (number !== 1 && number !== 2) return false;
    expectType(wireType, lengthType, number === 1 ? 'typeMeta' : 'raw');
    if (number === 1) type = readTypeMeta(reader, type);
    else message = readBytes(reader);
    return true;
  });
  return { ...type, message };
}

type TypeMeta = Omit<Envelope, 'message'>;

function readTypeMeta(reader: Reader, before: TypeMeta): TypeMeta {
  let { apiVersion, kind } = before;
  readNested(reader, 'TypeMeta', (number, wireType) => {
    if (number !== 1 && number !== 2) return false;
    expectType(wireType, lengthType, number === 1 ? 'APIVersion' : 'kind');
    if (number === 1) apiVersion = readString(reader);
    else kind = readString(reader);
    return true;
  });
  return { apiVersion, kind };
}

/** contentEncoding and contentType, fields 3 and 4: Kubernetes always writes them empty. */
const emptyEnd = Buffer.from([0x1a, 0, 0x22, 0]);

export function toEnvelope({ apiVersion, kind, message }: Envelope): Buffer {
  const writer = newWriter();
  writeVarint(writer, message.length);
  writeTag(writer, 2, lengthType);
  writeNested(writer, 1, () => {
    writeString(writer, 2, kind);
    writeString(writer, 1, apiVersion);
  });
  return Buffer.concat([magic, written(writer), message, emptyEnd]);
}
