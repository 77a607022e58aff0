// Encodes an object as Kubernetes' protobuf message. Absent fields are not written: readers use the zero value.

import type { JsonObject } from '../json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../node.ts';
import { itemsNumber, type Layout, layoutOf, mapKeyNumber, mapValueNumber } from './layout.ts';
import { scalarWriter } from './scalar-writer.ts';
import { newWriter, type Writer, writeNested, writeString, written } from './writer.ts';

export function toProtobuf(schema: StructNode, object: object): Buffer {
  const writer = newWriter();
  messageWriter(schema)(writer, object as JsonObject);
  return written(writer);
}

/** Writes the fields of a message in descending order, because the writer works backwards. */
type WriteFields = (writer: Writer, object: JsonObject) => void;

const messageWriters = new WeakMap<StructNode['fields'], WriteFields>();

function messageWriter(schema: StructNode): WriteFields {
  const known = messageWriters.get(schema.fields);
  if (known !== undefined) return known;
  // Built on first use, because schemas may be recursive.
  let write: WriteFields | undefined;
  const writeLater: WriteFields = (writer, object) => {
    write ??= fieldsWriter(layoutOf(schema));
    write(writer, object);
  };
  messageWriters.set(schema.fields, writeLater);
  return writeLater;
}

function fieldsWriter({ fields, inner }: Layout): WriteFields {
  const parts: readonly { readonly number: number; readonly write: WriteFields }[] = [
    ...fields.map(({ number, name, schema }) => ({
      number,
      write: fieldWriter(number, name, schema),
    })),
    ...inner.map(({ number, layout }) => ({ number, write: innerWriter(number, layout) })),
  ];
  const writes = [...parts].sort((a, b) => b.number - a.number).map(({ write }) => write);
  return (writer, object) => {
    for (const write of writes) write(writer, object);
  };
}

/** A message that JSON inlines is written when one of its fields is present. */
function innerWriter(number: number, layout: Layout): WriteFields {
  const write = fieldsWriter(layout);
  return (writer, object) => {
    const isPresent = hasField(layout, object);
    if (isPresent) writeNested(writer, number, () => write(writer, object));
  };
}

function hasField({ fields, inner }: Layout, object: JsonObject): boolean {
  return (
    fields.some(({ name }) => object[name] !== undefined) ||
    inner.some(({ layout }) => hasField(layout, object))
  );
}

function fieldWriter(number: number, name: string, schema: Schema): WriteFields {
  const write = valueWriter(number, schema);
  return (writer, object) => {
    const value = object[name];
    if (value !== undefined && value !== null) write(writer, value);
  };
}

type WriteValue = (writer: Writer, value: unknown) => void;

function valueWriter(number: number, schema: Schema): WriteValue {
  switch (schema.node) {
    case 'scalar':
      return scalarWriter(number, schema.type);
    case 'struct': {
      const write = messageWriter(schema);
      return (writer, value) =>
        writeNested(writer, number, () => write(writer, value as JsonObject));
    }
    case 'list':
      return listWriter(number, schema);
    case 'map':
      return mapWriter(number, schema);
  }
}

function listWriter(number: number, { items }: ListNode): WriteValue {
  const write = itemWriter(number, items);
  return (writer, value) => {
    const list = value as readonly unknown[];
    for (let i = list.length - 1; i >= 0; i--) write(writer, list[i]);
  };
}

/** Sorted, so that equal objects have equal bytes. */
function mapWriter(number: number, { values }: MapNode): WriteValue {
  const write = itemWriter(mapValueNumber, values);
  return (writer, value) => {
    const map = value as JsonObject;
    for (const key of Object.keys(map).sort().reverse()) {
      writeNested(writer, number, () => {
        // Null values of byte maps are omitted, and read as empty.
        if (map[key] !== null) write(writer, map[key]);
        writeString(writer, mapKeyNumber, key);
      });
    }
  };
}

/** Nested lists and maps are wrapped in a message, because protobuf repeats only fields. */
function itemWriter(number: number, schema: Schema): WriteValue {
  if (schema.node === 'scalar' || schema.node === 'struct') return valueWriter(number, schema);
  const write = valueWriter(itemsNumber, schema);
  return (writer, value) => writeNested(writer, number, () => write(writer, value));
}
