// Which message of the protobuf form holds which fields of a struct.
import type { FieldNumber, Schema, StructNode } from '../node.ts';

/** A message: fields of the struct, and messages that the protobuf form has in between. */
export type Layout = {
  readonly name: string;
  readonly fields: readonly Place[];
  readonly inner: readonly { readonly number: number; readonly layout: Layout }[];
};

/** A field and its number in the message. */
export type Place = { readonly number: number; readonly name: string; readonly schema: Schema };

type PathPlace = Place & { readonly path: readonly number[] };

/** Fields that have no number, or travel in the envelope, are nowhere. */
export function layoutOf(schema: StructNode): Layout {
  const places: PathPlace[] = [];
  for (const [i, [name, field]] of Object.entries(schema.fields).entries()) {
    const path = pathOf(schema.numbers?.[i]);
    const number = path.at(-1);
    if (number !== undefined) places.push({ number, name, schema: field, path });
  }
  return layout(schema.name, places, 0);
}

export function pathOf(number: FieldNumber | undefined): readonly number[] {
  if (number === undefined || number === 0) return [];
  return typeof number === 'number' ? [number] : number;
}

function layout(name: string, places: readonly PathPlace[], depth: number): Layout {
  const fields = places.filter(({ path }) => path.length === depth + 1);
  const deeper = places.filter(({ path }) => path.length > depth + 1);
  const numbers = [...new Set(deeper.map(({ path }) => path[depth] as number))];
  const inner = numbers.map((number) => {
    const inside = deeper.filter(({ path }) => path[depth] === number);
    return { number, layout: layout(name, inside, depth + 1) };
  });
  return { name, fields, inner };
}

/** Values that are lists or maps themselves are wrapped in a message; this is the number of its only field. */
export const itemsNumber = 1;

export const mapKeyNumber = 1;
export const mapValueNumber = 2;
