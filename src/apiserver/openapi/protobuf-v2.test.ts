import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toProtobufV2 } from './protobuf-v2.ts';

/** A message read back without knowing its fields: number → the values in order. */
type Message = Readonly<Record<number, readonly (Buffer | number)[]>>;

function read(bytes: Buffer): Message {
  const message: Record<number, (Buffer | number)[]> = {};
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const value = varint();
    const values = message[tag >>> 3] ?? [];
    message[tag >>> 3] = values;
    if ((tag & 7) === 0) {
      values.push(value);
    } else {
      values.push(bytes.subarray(at, at + value));
      at += value;
    }
  }
  return message;
}

/** Follows field numbers down through nested messages. */
function dig(bytes: Buffer, ...path: readonly number[]): Buffer | number | undefined {
  let found: Buffer | number | undefined = bytes;
  for (const number of path) found = Buffer.isBuffer(found) ? read(found)[number]?.[0] : undefined;
  return found;
}

describe('toProtobufV2()', () => {
  const description = 'x'.repeat(300);
  const bytes = toProtobufV2({
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths: {
      '/a/{name}': {
        get: {
          tags: ['t'],
          operationId: 'readA',
          parameters: [{ name: 'q', in: 'query', type: 'string', uniqueItems: true }],
          responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/A' } } },
          'x-kubernetes-action': 'get',
        },
        post: { parameters: [{ name: 'body', in: 'body', required: true, schema: {} }] },
        parameters: [{ name: 'name', in: 'path', required: true, type: 'string' }],
      },
    },
    definitions: {
      A: {
        type: 'object',
        description,
        required: ['b'],
        properties: { b: { type: 'array', items: { type: 'string' }, default: 1 } },
        additionalProperties: { type: 'integer' },
        'x-kubernetes-list-map-keys': ['k'],
      },
    },
  });
  const item = [8, 2, 2];
  const schema = [9, 1, 2];

  const cases: Readonly<Record<string, readonly [readonly number[], string | number]>> = {
    'the version': [[1], '2.0'],
    'the title': [[2, 1], 'Kubernetes'],
    'the path': [[8, 2, 1], '/a/{name}'],
    'the operation': [[...item, 2, 5], 'readA'],
    'a query parameter': [[...item, 2, 8, 1, 2, 3, 4], 'q'],
    'its uniqueness': [[...item, 2, 8, 1, 2, 3, 20], 1],
    'a body parameter': [[...item, 4, 8, 1, 1, 3], 'body'],
    'that it is required': [[...item, 4, 8, 1, 1, 4], 1],
    'a path parameter': [[...item, 9, 1, 2, 4, 5], 'string'],
    'the code of a response': [[...item, 2, 9, 1, 1], '200'],
    'the schema of a response': [[...item, 2, 9, 1, 2, 1, 2, 1, 1], '#/definitions/A'],
    'an extension of an operation': [[...item, 2, 13, 2, 2], '"get"'],
    'the name of a definition': [[9, 1, 1], 'A'],
    'a long text': [[...schema, 4], description],
    'the type': [[...schema, 22, 1], 'object'],
    'a required field': [[...schema, 19], 'b'],
    'the name of a property': [[...schema, 25, 1, 1], 'b'],
    'the type of items': [[...schema, 25, 1, 2, 23, 1, 22, 1], 'string'],
    'a default': [[...schema, 25, 1, 2, 5, 2], '1'],
    'the type of other properties': [[...schema, 21, 1, 22, 1], 'integer'],
    'an extension of a schema': [[...schema, 31, 2, 2], '["k"]'],
  };
  for (const [name, [path, value]] of Object.entries(cases)) {
    it(`writes ${name}`, () => {
      const found = dig(bytes, ...path);
      assert.equal(Buffer.isBuffer(found) ? found.toString() : found, value);
    });
  }
});
