// The protobuf messages of a struct.
import type { FieldNumber, Schema, StructNode } from '../node.ts';

/** A message: fields of the struct, and nested messages that JSON inlines. */
export type Layout = {
  readonly name: string;
  readonly fields: readonly MessageField[];
  readonly inner: readonly { readonly number: number; readonly layout: Layout }[];
};

/** A field and its number. */
export type MessageField = {
  readonly number: number;
  readonly name: string;
  readonly schema: Schema;
};

type NumberedField = MessageField & { readonly path: readonly number[] };

/** Without fields that have no number or are in the envelope. */
export function layoutOf(schema: StructNode): Layout {
  const numbered: NumberedField[] = [];
  for (const [i, [name, field]] of Object.entries(schema.fields).entries()) {
    const path = pathOf(schema.numbers?.[i]);
    const number = path.at(-1);
    if (number !== undefined) numbered.push({ number, name, schema: field, path });
  }
  return layout(schema.name, numbered, 0);
}

export function pathOf(number: FieldNumber | undefined): readonly number[] {
  if (number === undefined || number === 0) return [];
  return typeof number === 'number' ? [number] : number;
}

function layout(name: string, numbered: readonly NumberedField[], depth: number): Layout {
  const fields = numbered.filter(({ path }) => path.length === depth + 1);
  const deeper = numbered.filter(({ path }) => path.length > depth + 1);
  const numbers = [...new Set(deeper.map(({ path }) => path[depth] as number))];
  const inner = numbers.map((number) => {
    const inside = deeper.filter(({ path }) => path[depth] === number);
    return { number, layout: layout(name, inside, depth + 1) };
  });
  return { name, fields, inner };
}

/** Nested lists and maps are wrapped in a message; this is the number of its only field. */
export const itemsNumber = 1;

export const mapKeyNumber = 1;
export const mapValueNumber = 2;
