// Decodes a protobuf message to the value that JSON.parse would return. Schemas are compiled to functions once.
// Whatever the JSON decoder checks afterwards is not checked here.
import type { ListNode, MapNode, Schema, StructNode } from '../node.ts';
import { itemsNumber, type Layout, layoutOf, mapKeyNumber, mapValueNumber } from './layout.ts';
import { scalarReader } from './scalar-reader.ts';
import {
  countField,
  expectType,
  lengthType,
  type Reader,
  readerOf,
  readFields,
  readLength,
  readNested,
  readString,
} from './wire.ts';

type Raw = Record<string, unknown>;

/** Throws ProtobufError. */
export function fromProtobuf(
  schema: StructNode,
  message: Uint8Array,
): Readonly<Record<string, unknown>> {
  const raw: Raw = {};
  const { name, field } = messageOf(schema);
  const reader = readerOf(message);
  readFields(reader, name, (number, type) => field(number, { reader, type, raw }));
  return raw;
}

/** The input, and the object to fill. */
type Input = { readonly reader: Reader; readonly type: number; readonly raw: Raw };
type ReadField = (input: Input) => void;
type Message = {
  readonly name: string;
  /** False when the message has no such field. */
  readonly field: (number: number, input: Input) => boolean;
};

const messages = new WeakMap<StructNode['fields'], Message>();

function messageOf(schema: StructNode): Message {
  const known = messages.get(schema.fields);
  if (known !== undefined) return known;
  // Built on first use, because schemas may be recursive.
  let fields: ReadonlyMap<number, ReadField> | undefined;
  const message = messageWith(schema.name, () => {
    fields ??= readersOf(layoutOf(schema));
    return fields;
  });
  messages.set(schema.fields, message);
  return message;
}

function messageWith(name: string, fields: () => ReadonlyMap<number, ReadField>): Message {
  return {
    name,
    field: (number, input) => {
      const read = fields().get(number);
      read?.(input);
      return read !== undefined;
    },
  };
}

function readersOf({ fields, inner }: Layout): ReadonlyMap<number, ReadField> {
  return new Map([
    ...fields.map(({ number, name, schema }) => [number, fieldReader(name, schema)] as const),
    ...inner.map(({ number, layout }) => [number, innerReader(layout)] as const),
  ]);
}

/** A message that JSON inlines: its fields go into the same object. */
function innerReader(layout: Layout): ReadField {
  const fields = readersOf(layout);
  const message = messageWith(layout.name, () => fields);
  return ({ reader, type, raw }) => {
    expectType(type, lengthType, layout.name);
    readMessage(reader, message, raw);
  };
}

function readMessage(reader: Reader, { name, field }: Message, raw: Raw): void {
  readNested(reader, name, (number, type) => field(number, { reader, type, raw }));
}

function fieldReader(name: string, schema: Schema): ReadField {
  switch (schema.node) {
    case 'list':
      return listReader(name, schema);
    case 'map':
      return mapReader(name, schema);
    case 'struct': {
      const message = messageOf(schema);
      return ({ reader, type, raw }) => {
        expectType(type, lengthType, name);
        // Repeated occurrences of a message are merged.
        raw[name] ??= {};
        readMessage(reader, message, raw[name] as Raw);
      };
    }
    case 'scalar': {
      const { wireType, read } = scalarReader(schema.type);
      return ({ reader, type, raw }) => {
        expectType(type, wireType, name);
        raw[name] = read(reader);
      };
    }
  }
}

function listReader(name: string, { items }: ListNode): ReadField {
  const item = valueReader(items);
  return ({ reader, type, raw }) => {
    raw[name] ??= [];
    const list = raw[name] as unknown[];
    if (type === lengthType && item.wireType !== lengthType) {
      readPacked(reader, () => list.push(item.read(reader)));
      return;
    }
    expectType(type, item.wireType, name);
    list.push(item.read(reader));
  };
}

/** Repeated numbers may be packed. */
function readPacked(reader: Reader, readItem: () => void): void {
  const outer = reader.end;
  reader.end = readLength(reader);
  while (reader.at < reader.end) {
    countField(reader);
    readItem();
  }
  reader.end = outer;
}

function mapReader(name: string, { values }: MapNode): ReadField {
  const value = valueReader(values);
  return ({ reader, type, raw }) => {
    expectType(type, lengthType, name);
    raw[name] ??= {};
    let key = '';
    let found = value.zero();
    readNested(reader, name, (number, wireType) => {
      if (number === mapKeyNumber) {
        expectType(wireType, lengthType, name);
        key = readString(reader);
      } else if (number === mapValueNumber) {
        expectType(wireType, value.wireType, name);
        found = value.read(reader);
      } else return false;
      return true;
    });
    setOwn(raw[name] as Raw, key, found);
  };
}

/** An own property also for `__proto__`. */
function setOwn(map: Raw, key: string, value: unknown): void {
  if (key !== '__proto__') map[key] = value;
  else {
    const own = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(map, key, own);
  }
}

type ValueReader = {
  readonly wireType: number;
  readonly read: (reader: Reader) => unknown;
  /** The value of a map entry without a value. */
  readonly zero: () => unknown;
};

function valueReader(schema: Schema): ValueReader {
  switch (schema.node) {
    case 'scalar':
      return scalarReader(schema.type);
    case 'struct': {
      const message = messageOf(schema);
      return { ...objectReader(message), zero: () => ({}) };
    }
    case 'list':
    case 'map': {
      const fields = new Map([[itemsNumber, fieldReader('items', schema)]]);
      const { read } = objectReader(messageWith('items', () => fields));
      const zero = () => (schema.node === 'list' ? [] : {});
      return {
        wireType: lengthType,
        read: (reader) => read(reader).items ?? zero(),
        zero,
      };
    }
  }
}

function objectReader(message: Message): { wireType: number; read: (reader: Reader) => Raw } {
  return {
    wireType: lengthType,
    read: (reader) => {
      const raw: Raw = {};
      readMessage(reader, message, raw);
      return raw;
    },
  };
}
