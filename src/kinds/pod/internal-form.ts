// Specs as Kubernetes keeps them in memory, printed as JSON: Go's field names, Go's order of fields, and every field,
// set or not. Clients see this form where an update that is not allowed is answered with what it would change.
import { labelSelector } from '../../meta/labels.ts';
import { objectMeta } from '../../meta/object.ts';
import { unifiedDiff } from '../../meta/unified-diff.ts';
import { goJson } from '../../schema/go-json.ts';
import type { ScalarNode, Schema, StructNode } from '../../schema/node.ts';
import { type EphemeralContainer, ephemeralContainer } from './container.ts';
import { goName } from './internal-names.ts';
import { type PodSpec, podSpec } from './pod-spec.ts';
import { reducedChange } from './reduce-change.ts';
import { podSecurityContext } from './security.ts';
import { volume } from './volume.ts';

type Json = { readonly [key: string]: unknown };

export function podSpecDiff(before: PodSpec, after: PodSpec): string {
  const [was, is] = reducedChange(before, after);
  return unifiedDiff(printed(podSpecForm(was)), printed(podSpecForm(is)));
}

export function ephemeralContainerDiff(
  before: EphemeralContainer,
  after: EphemeralContainer,
): string {
  const form = (container: EphemeralContainer) =>
    printed(structForm(ephemeralContainer, container));
  const [was, is] = reducedChange(before, after);
  return unifiedDiff(form(was), form(is));
}

/** Lines of JSON, each level one space further in. */
const printed = (form: unknown): string => goIndented(form, '');

function goIndented(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return goJson(value);
  const inner = `${indent} `;
  const isList = Array.isArray(value);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const members = isList
    ? value.map((item) => inner + goIndented(item, inner))
    : entries.map(([key, item]) => `${inner}${goJson(key)}: ${goIndented(item, inner)}`);
  const [open, close] = isList ? '[]' : '{}';
  return members.length === 0
    ? `${open}${close}`
    : `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

/** What the pod shares with its host is told by the pod's security context there. */
const hostFields = [
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'shareProcessNamespace',
  'hostUsers',
] as const;

function podSpecForm(spec: PodSpec): Json {
  const host = Object.fromEntries(
    hostFields.map((field) => [
      goName('PodSpec', field),
      fieldForm(podSpec.fields[field], spec[field]),
    ]),
  );
  const securityContext = {
    ...host,
    ...structForm(podSecurityContext as unknown as StructNode, spec.securityContext ?? {}),
  };
  const form = structForm(podSpec as unknown as StructNode, spec);
  return Object.fromEntries(
    Object.entries(form)
      .filter(([name]) => !leftOut.has(name))
      .map(([name, value]) =>
        name === 'SecurityContext' ? [name, securityContext] : [name, value],
      ),
  );
}

/** A struct under Go's names. Not for structs with maps of their own: those are Maps in it, in Go's order. */
export const internalForm = structForm;

function structForm(struct: StructNode, value: object): Json {
  const fields = orders[struct.name] ?? Object.keys(struct.fields);
  const form: Record<string, unknown> = {};
  for (const field of fields) {
    const schema = struct.fields[field];
    if (schema === undefined) continue;
    const given = (value as Json)[field];
    // Metadata is spread over the struct that has it, and keeps the names that clients know.
    if (isShared(schema, objectMeta)) Object.assign(form, given);
    else form[goName(struct.name, field)] = fieldForm(schema, given);
  }
  return form;
}

function fieldForm(schema: Schema, value: unknown): unknown {
  if (value === undefined || value === null) return zeroForm(schema);
  if (schema.node === 'scalar' || isShared(schema, labelSelector)) return value;
  if (schema.node === 'list') {
    return (value as readonly unknown[]).map((item) => fieldForm(schema.items, item));
  }
  if (schema.node === 'struct') return structForm(schema, value as object);
  const entries = Object.entries(value as Json).sort(([x], [y]) => (x < y ? -1 : 1));
  // A Map, because an object would put keys that look like numbers first.
  return new Map(entries.map(([key, item]) => [key, fieldForm(schema.values, item)]));
}

function zeroForm(schema: Schema): unknown {
  if (schema.presence === 'pointer' || schema.node === 'list' || schema.node === 'map') return null;
  return schema.node === 'struct' ? structForm(schema, {}) : zeroScalars[schema.type];
}

const zeroScalars: Readonly<Record<ScalarNode['type'], unknown>> = {
  string: '',
  int32: 0,
  int64: 0,
  double: 0,
  boolean: false,
  time: null,
  microTime: null,
  quantity: '0',
  intOrString: 0,
  bytes: null,
  any: null,
};

/** Structs that have the same form for clients and in memory. */
const isShared = (schema: Schema, shared: StructNode): boolean =>
  schema.node === 'struct' && schema.name === shared.name;

/** The order of fields in memory where it is another than clients see. */
const orders: Readonly<Record<string, readonly string[]>> = {
  PodSpec: moved(Object.keys(podSpec.fields), {
    setHostnameAsFQDN: 'subdomain',
    preemptionPolicy: 'priority',
    overhead: 'runtimeClassName',
  }),
  PodSecurityContext: moved(Object.keys(podSecurityContext.fields), {
    fsGroupChangePolicy: 'fsGroup',
  }),
  Volume: moved(Object.keys(volume.fields), { quobyte: 'rbd' }),
};

function moved(
  fields: readonly string[],
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const followers = new Map(Object.entries(after).map(([field, before]) => [before, field]));
  return fields.flatMap((field) => {
    if (after[field] !== undefined) return [];
    const follower = followers.get(field);
    return follower === undefined ? [field] : [field, follower];
  });
}

/** Fields of the spec that stand elsewhere there, or are an older name of another. */
const leftOut: ReadonlySet<string> = new Set([
  ...hostFields.map((field) => goName('PodSpec', field)),
  'ServiceAccount',
]);
