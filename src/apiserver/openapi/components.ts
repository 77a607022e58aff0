// Schemas as OpenAPI components.
import type { ListNode, MapNode, ScalarNode, Schema, StructNode } from '../../schema/node.ts';
import type { ComponentNames } from './component-names.ts';
import { metaPackage } from './meta-types.ts';

export type Json = { readonly [key: string]: unknown };
export type Components = Record<string, Json>;

const refPrefix = '#/components/schemas/';

export function refTo(name: string): Json {
  return { $ref: `${refPrefix}${name}` };
}

/** Adds the struct and all it is made of; returns its name. */
export function addComponent(
  components: Components,
  names: ComponentNames,
  struct: StructNode,
): string {
  const name = names.of(struct);
  if (components[name] !== undefined) return name;
  const entries = Object.entries(struct.fields);
  const required = entries.filter(([, field]) => field.required).map(([field]) => field);
  const properties: Record<string, Json> = {};
  // Added before its fields, so that a recursive type terminates.
  components[name] = {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required: required.sort() } : {}),
    ...(struct.mapType === undefined ? {} : { 'x-kubernetes-map-type': struct.mapType }),
  };
  for (const [field, schema] of entries) {
    properties[field] = describe(components, names, schema);
  }
  return name;
}

/** A type that is a component although it is no struct. */
const scalarComponents: Readonly<Record<string, Json>> = {
  [`${metaPackage}.Time`]: {
    type: 'string',
    format: 'date-time',
    description: 'A moment in RFC 3339, in whole seconds.',
  },
  [`${metaPackage}.MicroTime`]: {
    type: 'string',
    format: 'date-time',
    description: 'A moment in RFC 3339, in microseconds.',
  },
  [`${metaPackage}.FieldsV1`]: {
    type: 'object',
    description:
      'Names of fields as a tree: f: a field, k: an item by its keys, v: one by its value.',
  },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    description: 'A number with an optional unit: 500m, 1.5, 2Gi.',
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    description: 'A number or a text.',
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
};

type ScalarForm = Json | { readonly component: string };

const scalarForms: Readonly<Record<ScalarNode['type'], ScalarForm>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  boolean: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  // The only free-form value of objects is a field set in managedFields.
  any: { component: `${metaPackage}.FieldsV1` },
  time: { component: `${metaPackage}.Time` },
  microTime: { component: `${metaPackage}.MicroTime` },
  quantity: { component: 'io.k8s.apimachinery.pkg.api.resource.Quantity' },
  intOrString: { component: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString' },
};

function describe(components: Components, names: ComponentNames, schema: Schema): Json {
  const facts = factsOf(schema);
  switch (schema.node) {
    case 'scalar':
      return describeScalar(components, schema, facts);
    case 'list':
      return {
        type: 'array',
        items: describe(components, names, schema.items),
        ...facts,
        ...listFacts(schema),
      };
    case 'map':
      return {
        type: 'object',
        additionalProperties: describe(components, names, schema.values),
        ...facts,
        ...mapFacts(schema),
      };
    case 'struct':
      return withFacts(addComponent(components, names, schema), facts);
  }
}

function describeScalar(components: Components, schema: ScalarNode, facts: Json): Json {
  const form = scalarForms[schema.type];
  if (!('component' in form)) return { ...form, ...facts };
  const name = String(form.component);
  const component = scalarComponents[name];
  if (component !== undefined) components[name] = component;
  return withFacts(name, facts);
}

/** A reference may not have siblings, so facts about the field are around it. */
function withFacts(name: string, facts: Json): Json {
  return Object.keys(facts).length === 0 ? refTo(name) : { allOf: [refTo(name)], ...facts };
}

function factsOf(schema: Schema): Json {
  const { description, format, patchStrategy } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(schema.default === undefined ? {} : { default: schema.default }),
    ...(schema.enum === undefined ? {} : { enum: [...schema.enum].sort() }),
    ...(format === undefined ? {} : { format }),
    ...(patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': patchStrategy }),
  };
}

function listFacts({ listType, keys, mergeKey }: ListNode): Json {
  return {
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
  };
}

function mapFacts({ mapType }: MapNode): Json {
  return mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType };
}
