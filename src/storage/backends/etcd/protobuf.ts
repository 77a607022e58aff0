// The little of protobuf that etcd's messages need: varints and byte strings, in messages of at most 15 fields a tag byte
// holds. Numbers are revisions and ids; what is beyond 2^53 does not come up in either.

export type ProtobufWriter = {
  readonly int: (field: number, value: number) => void;
  readonly bool: (field: number, value: boolean) => void;
  readonly bytes: (field: number, value: Uint8Array) => void;
  readonly text: (field: number, value: string) => void;
  readonly finish: () => Uint8Array;
};

const varint = 0;
const lengthDelimited = 2;

/** Zeros and empty strings are left out, as the format has it. */
export function writeMessage(write: (writer: ProtobufWriter) => void): Uint8Array {
  const parts: Uint8Array[] = [];
  const writer: ProtobufWriter = {
    int(field, value) {
      if (value !== 0) parts.push(Uint8Array.from([tag(field, varint), ...varintBytes(value)]));
    },
    bool: (field, value) => writer.int(field, value ? 1 : 0),
    bytes(field, value) {
      parts.push(
        Uint8Array.from([tag(field, lengthDelimited), ...varintBytes(value.length)]),
        value,
      );
    },
    text(field, value) {
      if (value !== '') writer.bytes(field, Buffer.from(value));
    },
    finish: () => Buffer.concat(parts),
  };
  write(writer);
  return writer.finish();
}

const tag = (field: number, type: number): number => field * 8 + type;

/** Negative numbers are not written by us. */
function varintBytes(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}

export type ProtobufField =
  | { readonly field: number; readonly int: number }
  | { readonly field: number; readonly bytes: Buffer };

/** Fields in the order they came; types that etcd does not use are skipped. */
export function* readMessage(message: Uint8Array): Generator<ProtobufField> {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  const number = (): number => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError('a protobuf message ends within a number');
      at += 1;
      value += (byte & 0x7f) * factor;
      factor *= 0x80;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = number();
    const field = Math.floor(key / 8);
    const type = key % 8;
    if (type === varint) yield { field, int: number() };
    else if (type === lengthDelimited) {
      const length = number();
      if (at + length > bytes.length)
        throw new RangeError('a protobuf message ends within a field');
      yield { field, bytes: bytes.subarray(at, at + length) };
      at += length;
    } else at += fixedBytes(type);
  }
}

function fixedBytes(type: number): number {
  if (type === 1) return 8;
  if (type === 5) return 4;
  throw new RangeError(`a protobuf message has a field of unknown type ${type}`);
}

/** A message by field: numbers (the last one counts, 0 when there is none) and byte strings. */
export type Fields = {
  readonly int: (field: number) => number;
  readonly all: (field: number) => readonly Buffer[];
  readonly one: (field: number) => Buffer | undefined;
};

export function readFields(message: Uint8Array): Fields {
  const ints: number[] = [];
  const strings: (Buffer[] | undefined)[] = [];
  for (const part of readMessage(message)) {
    if ('int' in part) ints[part.field] = part.int;
    else {
      const list = strings[part.field];
      if (list === undefined) strings[part.field] = [part.bytes];
      else list.push(part.bytes);
    }
  }
  const all = (field: number): readonly Buffer[] => strings[field] ?? [];
  return { int: (field) => ints[field] ?? 0, all, one: (field) => all(field).at(-1) };
}
