// Describes any object: its fields with readable names, lists of objects as tables. Pure.
import type { KubeObject } from '../../meta/object.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { type Field, heading, line } from './describe-text.ts';

/** Shown in the heading, or for programs only. */
const hiddenMetadata = new Set([
  'name',
  'namespace',
  'labels',
  'annotations',
  'managedFields',
  'generateName',
  'selfLink',
]);

export function describeObject(object: KubeObject): readonly Field[] {
  const { apiVersion, kind, metadata, ...rest } = object as KubeObject & JsonObject;
  const shown = Object.entries(metadata).filter(([key]) => !hiddenMetadata.has(key));
  const content = kind === 'Secret' && apiVersion === 'v1' ? hideValues(rest) : rest;
  return [
    ...heading(metadata),
    line('API Version', apiVersion),
    line('Kind', kind),
    { label: 'Metadata', fields: describeFields(Object.fromEntries(shown)) },
    ...describeFields(content),
  ];
}

/** Hides the values of Secrets. */
function hideValues(content: JsonObject): JsonObject {
  const { data } = content;
  if (!isJsonObject(data)) return content;
  const sizes = Object.entries(data).map(([key, value]) => [
    key,
    `${Buffer.from(String(value), 'base64').length} bytes`,
  ]);
  return { ...content, data: Object.fromEntries(sizes) };
}

/** Maps: their keys are user-defined names, not fields. */
const mapFields = new Set([
  'data',
  'binaryData',
  'stringData',
  'matchLabels',
  'selector',
  'nodeSelector',
  'limits',
  'requests',
  'labels',
  'annotations',
  'capacity',
  'allocatable',
]);

function describeFields(fields: JsonObject, namesAreData = false): readonly Field[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) =>
      describeValue(namesAreData ? key : readable(key), value, mapFields.has(key)),
    );
}

function describeValue(label: string, value: unknown, namesAreData: boolean): Field {
  if (Array.isArray(value)) return describeList(label, value);
  if (!isJsonObject(value)) return { label, lines: String(value).replace(/\n$/, '').split('\n') };
  const fields = describeFields(value, namesAreData);
  return fields.length === 0 ? { label, lines: ['<none>'] } : { label, fields };
}

function describeList(label: string, items: readonly unknown[]): Field {
  if (items.length === 0) return { label, lines: ['<none>'] };
  if (!items.every(isJsonObject)) return { label, lines: items.map(String) };
  if (items.every(isFlat)) return describeTable(label, items);
  return {
    label,
    fields: items.map((item, index) => ({
      label: typeof item.name === 'string' && item.name !== '' ? item.name : `#${index + 1}`,
      fields: describeFields(item),
    })),
  };
}

function describeTable(label: string, items: readonly JsonObject[]): Field {
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))].sort(byImportance);
  return {
    label,
    header: columns.map(readable),
    rows: items.map((item) =>
      columns.map((column) => (item[column] === undefined ? '' : String(item[column]))),
    ),
  };
}

const first = ['name', 'type', 'status', 'kind'];
const last = ['reason', 'message'];

function byImportance(a: string, b: string): number {
  const rank = (key: string): number =>
    first.includes(key) ? first.indexOf(key) : last.includes(key) ? 100 + last.indexOf(key) : 50;
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

const isFlat = (item: JsonObject): boolean =>
  Object.values(item).every((value) => typeof value !== 'object' && !String(value).includes('\n'));

/** `clusterIPs` → `Cluster IPs`, `uid` → `UID`. */
export function readable(key: string): string {
  if (/^(uid|api|url|ip)$/.test(key)) return key.toUpperCase();
  const words = key.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2,})/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
