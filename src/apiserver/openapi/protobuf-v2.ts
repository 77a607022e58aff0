// The v2 document in the protobuf form that kubectl asks for: gnostic's openapi.v2.Document.
// A message is written from the JSON object it stands for; a table says which key is which field.
import type { Json } from './components.ts';
import type { DocumentV2 } from './document-v2.ts';

type Write = (value: unknown) => readonly Buffer[];
type Field = { readonly number: number; readonly write: Write };
type Message = {
  readonly fields: Readonly<Record<string, Field>>;
  /** Number of the field that takes every key that starts with `x-`. */
  readonly extensions?: number;
};

export function toProtobufV2(document: DocumentV2): Buffer {
  return encode(documentMessage, document);
}

function encode({ fields, extensions }: Message, object: Json): Buffer {
  const parts: Buffer[] = [];
  for (const [key, value] of Object.entries(object)) {
    const field = fields[key];
    if (field !== undefined) {
      for (const bytes of field.write(value)) parts.push(bytes);
    } else if (extensions !== undefined && key.startsWith('x-')) {
      parts.push(delimited(extensions, named(key, anyValue(value))));
    }
  }
  return Buffer.concat(parts);
}

const text = (number: number): Field => field(number, (value) => [utf8(String(value))]);
const texts = (number: number): Field =>
  field(number, (value) => (value as readonly string[]).map(utf8));
const any = (number: number): Field => field(number, (value) => [anyValue(value)]);
const anys = (number: number): Field =>
  field(number, (value) => (value as readonly unknown[]).map(anyValue));
const flag = (number: number): Field => ({
  number,
  write: (value) => (value ? [Buffer.concat([varint(number << 3), varint(1)])] : []),
});

/** One nested message; late, because messages contain each other. */
const message = (number: number, of: () => Message): Field =>
  field(number, (value) => [encode(of(), value as Json)]);

/** A map, written as a message whose only field repeats pairs of name and value. */
const pairs = (number: number, inner: number, value: (item: Json) => Buffer): Field =>
  field(number, (map) => [
    Buffer.concat(
      Object.entries(map as Readonly<Record<string, Json>>).map(([name, item]) =>
        delimited(inner, named(name, value(item))),
      ),
    ),
  ]);

function field(number: number, encodeAll: (value: unknown) => readonly Buffer[]): Field {
  return { number, write: (value) => encodeAll(value).map((bytes) => delimited(number, bytes)) };
}

const schemaMessage: Message = {
  fields: {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: any(5),
    uniqueItems: flag(16),
    required: texts(19),
    enum: anys(20),
    additionalProperties: field(21, (schema) => [delimited(1, encodeSchema(schema as Json))]),
    type: field(22, (type) => [delimited(1, utf8(String(type)))]),
    items: field(23, (schema) => [delimited(1, encodeSchema(schema as Json))]),
    properties: pairs(25, 1, encodeSchema),
  },
  extensions: 31,
};

function encodeSchema(schema: Json): Buffer {
  return encode(schemaMessage, schema);
}

const bodyParameter: Message = {
  fields: {
    description: text(1),
    name: text(2),
    in: text(3),
    required: flag(4),
    schema: field(5, (schema) => [encodeSchema(schema as Json)]),
  },
};
const place = { required: flag(1), in: text(2), description: text(3), name: text(4) };
const queryParameter: Message = {
  fields: { ...place, type: text(6), format: text(7), uniqueItems: flag(20) },
};
const pathParameter: Message = {
  fields: { ...place, type: text(5), format: text(6), uniqueItems: flag(19) },
};

/** Each kind of parameter has its place in two nested choices. */
function encodeParameter(parameter: Json): Buffer {
  const inner =
    parameter.in === 'body'
      ? delimited(1, encode(bodyParameter, parameter))
      : parameter.in === 'query'
        ? delimited(2, delimited(3, encode(queryParameter, parameter)))
        : delimited(2, delimited(4, encode(pathParameter, parameter)));
  return delimited(1, inner);
}

const parameters = (number: number): Field =>
  field(number, (value) => (value as readonly Json[]).map(encodeParameter));

const responseMessage: Message = {
  fields: {
    description: text(1),
    schema: field(2, (schema) => [delimited(1, encodeSchema(schema as Json))]),
  },
};

const operationMessage: Message = {
  fields: {
    tags: texts(1),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: parameters(8),
    responses: pairs(9, 1, (response) => delimited(1, encode(responseMessage, response))),
  },
  extensions: 13,
};

const operation = (number: number): Field => message(number, () => operationMessage);

const pathMessage: Message = {
  fields: {
    get: operation(2),
    put: operation(3),
    post: operation(4),
    delete: operation(5),
    patch: operation(8),
    parameters: parameters(9),
  },
};

const documentMessage: Message = {
  fields: {
    swagger: text(1),
    info: message(2, () => ({ fields: { title: text(1), version: text(2) } })),
    paths: pairs(8, 2, (item) => encode(pathMessage, item)),
    definitions: pairs(9, 1, encodeSchema),
  },
};

/** Free-form values travel as YAML text, and JSON is YAML. */
function anyValue(value: unknown): Buffer {
  return delimited(2, utf8(JSON.stringify(value)));
}

function named(name: string, value: Buffer): Buffer {
  return Buffer.concat([delimited(1, utf8(name)), delimited(2, value)]);
}

const lengthDelimited = 2;

function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | lengthDelimited), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

function utf8(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}
