// Every kind that is served in protobuf: its numbers are complete, and objects survive the way there and back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allKinds } from '../../kinds/all.ts';
import { decode } from '../../schema/decode.ts';
import type { Schema, StructNode } from '../../schema/node.ts';
import { fromProtobuf } from '../../schema/protobuf/decode.ts';
import { toProtobuf } from '../../schema/protobuf/encode.ts';
import { exampleOf, fullValues, zeroValues } from '../../schema/protobuf/example.ts';
import { pathOf } from '../../schema/protobuf/layout.ts';
import { ProtobufError } from '../../schema/protobuf/wire.ts';
import { spokenKinds, virtualKinds } from '../discovery/virtual-kinds.ts';
import * as metaTypes from '../openapi/meta-types.ts';
import { deleteOptions } from '../verbs/delete-options.ts';

const metaSchemas = Object.entries(metaTypes).flatMap(([name, schema]) =>
  typeof schema === 'object' && 'node' in schema && schema.node === 'struct'
    ? [{ name, schema: schema as StructNode }]
    : [],
);
const kinds: readonly { readonly name: string; readonly schema: StructNode }[] = [
  ...[...allKinds, ...virtualKinds, ...spokenKinds].map(({ group, kind, schema }) => ({
    name: group === '' ? kind : `${kind}.${group}`,
    schema,
  })),
  ...metaSchemas,
  { name: 'DeleteOptions of a body', schema: deleteOptions },
];

function structsIn(schema: Schema, found = new Map<object, StructNode>()): readonly StructNode[] {
  if (schema.node === 'list') structsIn(schema.items, found);
  if (schema.node === 'map') structsIn(schema.values, found);
  if (schema.node === 'struct' && !found.has(schema.fields)) {
    found.set(schema.fields, schema);
    for (const field of Object.values(schema.fields)) structsIn(field, found);
  }
  return [...found.values()];
}

const isTypeField = (name: string | undefined): boolean => name === 'kind' || name === 'apiVersion';

describe('the field numbers', () => {
  for (const { name, schema } of kinds) {
    it(`of ${name} are complete and used once`, () => {
      for (const struct of structsIn(schema)) {
        const fields = Object.keys(struct.fields);
        const numbers = struct.numbers ?? [];
        assert.equal(numbers.length, fields.length, `numbers of ${struct.name}`);
        const paths = numbers.map((number) => pathOf(number).join('.'));
        const used = paths.filter((path, i) => path !== '' || !isTypeField(fields[i]));
        assert.ok(!used.includes(''), `a field of ${struct.name} has no number`);
        assert.equal(new Set(used).size, used.length, `${struct.name} uses a number twice`);
        // A number leads to a field or to a message with fields, not to both.
        const inner = new Set(numbers.flatMap((n) => (typeof n === 'number' ? [] : [n[0]])));
        const both = numbers.filter((n) => typeof n === 'number' && inner.has(n));
        assert.deepEqual(both, [], `${struct.name} uses a number for a field and a message`);
      }
    });
  }
});

describe('protobuf there and back', () => {
  const forms = { full: fullValues, zero: zeroValues };
  for (const { name, schema } of kinds) {
    for (const [form, values] of Object.entries(forms)) {
      it(`keeps a ${form} ${name}`, () => {
        const object = exampleOf(schema, values);
        const back = fromProtobuf(schema, toProtobuf(schema, object));
        assert.deepEqual(back, object);
        assert.deepEqual(decode(schema, back), decode(schema, object));
      });
    }
  }
});

/** Small and seeded, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function damaged(bytes: Buffer, next: (below: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = 1 + next(4); i > 0; i--) copy[next(copy.length)] = next(256);
  return next(3) === 0 ? copy.subarray(0, next(copy.length)) : copy;
}

describe('damaged protobuf', () => {
  const rounds = 200;
  for (const { name, schema } of kinds) {
    it(`of ${name} is read or refused, and nothing else`, () => {
      const next = random(name.length);
      const bytes = toProtobuf(schema, exampleOf(schema, fullValues));
      for (let i = 0; i < rounds; i++) {
        try {
          decode(schema, fromProtobuf(schema, damaged(bytes, next)));
        } catch (error) {
          assert.ok(error instanceof ProtobufError, String(error));
        }
      }
    });
  }
});
