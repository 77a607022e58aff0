// OpenAPI v2: one document for everything, made from the v3 documents.
import type { Json } from './components.ts';
import type { DocumentV3 } from './document-v3.ts';

export type DocumentV2 = {
  readonly swagger: '2.0';
  readonly info: DocumentV3['info'];
  readonly paths: Readonly<Record<string, Json>>;
  readonly definitions: Readonly<Record<string, Json>>;
};

export function documentV2(documents: readonly DocumentV3[], version: string): DocumentV2 {
  const paths: Record<string, Json> = {};
  const definitions: Record<string, Json> = {};
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths)) paths[path] = convertPath(item);
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      definitions[name] ??= convertSchema(schema);
    }
  }
  return { swagger: '2.0', info: { title: 'Kubernetes', version }, paths, definitions };
}

function convertPath(item: Json): Json {
  return mapEntries(item, (key, value) =>
    key === 'parameters'
      ? (value as Json[]).map(convertParameter)
      : convertOperation(value as Json),
  );
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;
type Body = {
  readonly content?: Content;
  readonly required?: boolean;
  readonly description?: string;
};

function convertOperation(operation: Json): Json {
  const { parameters = [], requestBody, responses, ...rest } = operation;
  const body = requestBody as Body | undefined;
  const answers = responses as Readonly<Record<string, Body>>;
  const consumes = Object.keys(body?.content ?? {});
  const produces = Object.keys(Object.values(answers)[0]?.content ?? {});
  const all = [
    ...(body === undefined ? [] : [bodyParameter(body)]),
    ...(parameters as Json[]).map(convertParameter),
  ];
  return {
    ...rest,
    ...(consumes.length > 0 ? { consumes } : {}),
    produces,
    ...(all.length > 0 ? { parameters: all } : {}),
    responses: mapEntries(answers, (_code, answer) => {
      const schema = schemaOf(answer as Body);
      return { description: (answer as Body).description, ...(schema && { schema }) };
    }),
  };
}

function bodyParameter(body: Body): Json {
  return {
    name: 'body',
    in: 'body',
    ...(body.required ? { required: true } : {}),
    schema: schemaOf(body),
  };
}

function schemaOf({ content }: Body): Json | undefined {
  const [first] = Object.values(content ?? {});
  return first && convertSchema(first.schema);
}

function convertParameter({ schema, ...rest }: Json): Json {
  return { ...rest, ...(schema as Json) };
}

/** v2 allows siblings of a reference, and has no alternatives: those become strings. */
function convertSchema(schema: Json): Json {
  const { allOf, oneOf, ...rest } = schema;
  const [only] = (allOf ?? []) as readonly Json[];
  const type = oneOf === undefined ? {} : { type: 'string' };
  return { ...mapEntries({ ...only, ...type, ...rest }, convertKeyword) };
}

function convertKeyword(key: string, value: unknown): unknown {
  switch (key) {
    case '$ref':
      return String(value).replace('#/components/schemas/', '#/definitions/');
    case 'items':
    case 'additionalProperties':
      return convertSchema(value as Json);
    case 'properties':
      return mapEntries(value as Json, (_name, property) => convertSchema(property as Json));
    default:
      return value;
  }
}

function mapEntries(object: Json, change: (key: string, value: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(key, value)]),
  );
}
