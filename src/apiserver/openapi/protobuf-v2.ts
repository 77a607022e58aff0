// The v2 document in the protobuf form that kubectl asks for: gnostic's openapi.v2.Document.
// A message is written from the JSON object it stands for; a table says which key is which field.
import {
  encodeMessage,
  type FieldValue,
  type MessageFields,
} from '../../schema/protobuf/message-fields.ts';
import type { Json } from './components.ts';
import type { DocumentV2 } from './document-v2.ts';

type Field = {
  readonly number: number;
  /** The value of each occurrence of the field. */
  readonly values: (value: unknown) => readonly FieldValue[];
};
type Message = {
  readonly fields: Readonly<Record<string, Field>>;
  /** Number of the field that takes every key that starts with `x-`. */
  readonly extensions?: number;
};

export function toProtobufV2(document: DocumentV2): Buffer {
  return encodeMessage(fieldsOf(documentMessage, document));
}

function fieldsOf({ fields, extensions }: Message, object: Json): MessageFields {
  return Object.entries(object).flatMap(([key, value]): MessageFields => {
    const field = fields[key];
    if (field !== undefined) return field.values(value).map((each) => [field.number, each]);
    const isExtension = extensions !== undefined && key.startsWith('x-');
    return isExtension ? [[extensions, named(key, anyValue(value))]] : [];
  });
}

const field = (number: number, values: Field['values']): Field => ({ number, values });

const text = (number: number): Field => field(number, (value) => [String(value)]);
const texts = (number: number): Field => field(number, (value) => value as readonly string[]);
const any = (number: number): Field => field(number, (value) => [anyValue(value)]);
const anys = (number: number): Field =>
  field(number, (value) => (value as readonly unknown[]).map(anyValue));
const flag = (number: number): Field => field(number, (value) => [Boolean(value)]);

/** One nested message; a function, because messages contain each other. */
const message = (number: number, of: () => Message): Field =>
  field(number, (value) => [fieldsOf(of(), value as Json)]);

/** A map, written as a message whose only field repeats pairs of name and value. */
const pairs = (number: number, inner: number, value: (item: Json) => FieldValue): Field =>
  field(number, (map) => [
    Object.entries(map as Readonly<Record<string, Json>>).map(
      ([name, item]) => [inner, named(name, value(item))] as const,
    ),
  ]);

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
    additionalProperties: field(21, (schema) => [[[1, schemaFields(schema as Json)]]]),
    type: field(22, (type) => [[[1, String(type)]]]),
    items: field(23, (schema) => [[[1, schemaFields(schema as Json)]]]),
    properties: pairs(25, 1, schemaFields),
  },
  extensions: 31,
};

function schemaFields(schema: Json): MessageFields {
  return fieldsOf(schemaMessage, schema);
}

const bodyParameter: Message = {
  fields: {
    description: text(1),
    name: text(2),
    in: text(3),
    required: flag(4),
    schema: field(5, (schema) => [schemaFields(schema as Json)]),
  },
};
const parameter = { required: flag(1), in: text(2), description: text(3), name: text(4) };
const queryParameter: Message = {
  fields: { ...parameter, type: text(6), format: text(7), uniqueItems: flag(20) },
};
const pathParameter: Message = {
  fields: { ...parameter, type: text(5), format: text(6), uniqueItems: flag(19) },
};

/** Each kind of parameter is a choice within a choice. */
function parameterFields(parameter: Json): MessageFields {
  return [[1, choiceOf(parameter)]];
}

function choiceOf(parameter: Json): MessageFields {
  if (parameter.in === 'body') return [[1, fieldsOf(bodyParameter, parameter)]];
  return parameter.in === 'query'
    ? [[2, [[3, fieldsOf(queryParameter, parameter)]]]]
    : [[2, [[4, fieldsOf(pathParameter, parameter)]]]];
}

const parameters = (number: number): Field =>
  field(number, (value) => (value as readonly Json[]).map(parameterFields));

const responseMessage: Message = {
  fields: {
    description: text(1),
    schema: field(2, (schema) => [[[1, schemaFields(schema as Json)]]]),
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
    responses: pairs(9, 1, (response) => [[1, fieldsOf(responseMessage, response)]]),
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
    paths: pairs(8, 2, (item) => fieldsOf(pathMessage, item)),
    definitions: pairs(9, 1, schemaFields),
  },
};

/** Free-form values are YAML text, and JSON is YAML. */
const anyValue = (value: unknown): MessageFields => [[2, JSON.stringify(value)]];

const named = (name: string, value: FieldValue): MessageFields => [
  [1, name],
  [2, value],
];
