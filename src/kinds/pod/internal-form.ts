// Specs in the form of Kubernetes' internal types, as JSON: Go's field names and order, and every field, set or not.
// Messages about forbidden updates contain a diff in this form.
import { labelSelector } from '../../meta/labels.ts';
import { objectMeta } from '../../meta/object.ts';
import { unifiedDiff } from '../../meta/unified-diff.ts';
import { goJson } from '../../schema/go-json.ts';
import type { ScalarNode, Schema, StructNode } from '../../schema/node.ts';
import { type EphemeralContainer, ephemeralContainer } from './container.ts';
import { goFieldNames } from './go-names.ts';
import { type PodSpec, podSpec } from './pod-spec.ts';
import { reducedChange } from './reduce-change.ts';
import { podSecurityContext } from './security.ts';
import { volume } from './volume.ts';

/** As in the external types, except for these. */
const abbreviations: Readonly<Record<string, string>> = {
  ...goFieldNames,
  apiGroup: 'APIGroup',
  serviceAccount: 'ServiceAccount',
};

const otherNames: Readonly<Record<string, string>> = {
  'AzureDiskVolumeSource.diskURI': 'DataDiskURI',
  'GlusterfsVolumeSource.endpoints': 'EndpointsName',
  'ISCSIVolumeSource.chapAuthDiscovery': 'DiscoveryCHAPAuth',
  'ISCSIVolumeSource.chapAuthSession': 'SessionCHAPAuth',
  'RBDVolumeSource.image': 'RBDImage',
  'RBDVolumeSource.monitors': 'CephMonitors',
  'RBDVolumeSource.pool': 'RBDPool',
  'RBDVolumeSource.user': 'RadosUser',
};

/** Go's field name: the JSON name with a capital, except for abbreviations and a few others. */
function goName(struct: string, field: string): string {
  return (
    otherNames[`${struct}.${field}`] ??
    abbreviations[field] ??
    field.charAt(0).toUpperCase() + field.slice(1)
  );
}

type Json = { readonly [key: string]: unknown };

export function podSpecDiff(before: PodSpec, after: PodSpec): string {
  const [was, is] = reducedChange(before, after);
  return unifiedDiff(printed(podSpecForm(was)), printed(podSpecForm(is)));
}

export const ephemeralContainerDiff = (
  before: EphemeralContainer,
  after: EphemeralContainer,
): string => structDiff(ephemeralContainer, before, after);

/** The change of a value of the struct. */
export function structDiff<T extends object>(struct: StructNode, before: T, after: T): string {
  const [was, is] = reducedChange(before, after);
  return unifiedDiff(printed(structForm(struct, was)), printed(structForm(struct, is)));
}

/** JSON, one line for each member, indented by one space for each level. */
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

/** Host namespaces are part of the pod's security context in the internal types. */
const hostFields = [
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'shareProcessNamespace',
  'hostUsers',
] as const;

/** A pod template in a message: Go embeds its metadata. */
export function shownPodTemplate({ metadata, spec }: PodTemplate): object {
  return { ...metadata, Spec: shownPodSpec(spec) };
}
type PodTemplate = { readonly metadata: object; readonly spec: PodSpec };

/** A pod spec in a message. */
export const shownPodSpec = (spec: PodSpec): object => withoutMaps(podSpecForm(spec)) as object;

/** For JSON.stringify(). Keys that look like numbers come first, unlike Go's. */
function withoutMaps(form: unknown): unknown {
  if (typeof form !== 'object' || form === null) return form;
  if (Array.isArray(form)) return form.map(withoutMaps);
  const entries = form instanceof Map ? [...form] : Object.entries(form);
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutMaps(value)]));
}

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

/** A struct with Go's names. Structs with maps of their own are Maps in Go's order. */
export const internalForm = structForm;

function structForm(struct: StructNode, value: object): Json {
  const fields = orders[struct.name] ?? Object.keys(struct.fields);
  const form: Record<string, unknown> = {};
  for (const field of fields) {
    const schema = struct.fields[field];
    if (schema === undefined) continue;
    const content = (value as Json)[field];
    // Embedded metadata keeps its JSON names.
    if (isShared(schema, objectMeta)) Object.assign(form, content);
    else form[goName(struct.name, field)] = fieldForm(schema, content);
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
  // A Map, because objects put keys that look like numbers first.
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

/** Structs whose internal form equals the external one. */
const isShared = (schema: Schema, shared: StructNode): boolean =>
  schema.node === 'struct' && schema.name === shared.name;

/** Field order where the internal types differ. */
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

/** Fields of the spec that moved or were renamed. */
const leftOut: ReadonlySet<string> = new Set([
  ...hostFields.map((field) => goName('PodSpec', field)),
  'ServiceAccount',
]);
