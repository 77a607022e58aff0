// Decodes and encodes the entries of metadata.managedFields: who set which fields, how and when.
import {
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  withMetadata,
} from '../../meta/object.ts';
import { isJsonObject } from '../../schema/json-object.ts';
import {
  emptySet,
  type FieldSet,
  isEmptySet,
  parseFieldSet,
  printFieldSet,
  unionAll,
} from './fieldset.ts';

/** Who writes and how. */
export type Writer = {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
};

/** One entry, its fields understood. */
export type Managed = Writer & { readonly time?: string; readonly fields: FieldSet };

export type Entries = readonly ManagedFieldsEntry[];

/** Appliers keep their entry whatever version they apply in; updates have one for each version. */
export function isSameWriter(a: Writer, b: Writer): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** Equal for the same writer. */
export function writerKey({ manager, operation, subresource, apiVersion }: Writer): string {
  const version = operation === 'Apply' ? '' : apiVersion;
  return JSON.stringify([manager, operation, subresource, version]);
}

/** Stored entries, which are canonical. Invalid ones, stored by other programs, count as none. */
export function readEntries(stored: Entries = []): readonly Managed[] {
  return (
    readAll(stored, (fields) => (isJsonObject(fields) ? (fields as FieldSet) : undefined)) ?? []
  );
}

/** Entries that a client sent; nothing when one of them cannot be read. */
export function parseEntries(sent: Entries): readonly Managed[] | undefined {
  return readAll(sent, (fields) => {
    const set = parseFieldSet(fields);
    return set === undefined ? undefined : printFieldSet(set);
  });
}

type ReadFields = (fields: unknown) => FieldSet | undefined;

function readAll(sent: Entries, readFields: ReadFields): readonly Managed[] | undefined {
  const entries: Managed[] = [];
  for (const entry of sent) {
    const read = readEntry(entry, readFields);
    if (read === undefined) return undefined;
    if (isEmptySet(read.fields)) continue;
    const same = entries.findIndex((other) => isSameWriter(other, read));
    if (same === -1) entries.push(read);
    else entries[same] = read;
  }
  return entries;
}

function readEntry(entry: ManagedFieldsEntry, readFields: ReadFields): Managed | undefined {
  const { manager = '', operation, apiVersion = '', subresource = '' } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (apiVersion === '' || entry.fieldsType !== 'FieldsV1') return undefined;
  const fields = readFields(entry.fieldsV1 ?? emptySet);
  if (fields === undefined) return undefined;
  const { time } = entry;
  // In one piece: this runs on every write.
  return time === undefined
    ? { manager, operation, apiVersion, subresource, fields }
    : { manager, operation, apiVersion, subresource, time, fields };
}

/** The object with these entries, in the order in which they are stored. */
export function withEntries(object: KubeObject, entries: readonly Managed[]): KubeObject {
  const sorted = entries.length > 1 ? [...entries].sort(inStoredOrder) : entries;
  return withManagedFields(object, sorted.map(writeEntry));
}

export function withManagedFields(object: KubeObject, entries: Entries): KubeObject {
  const { managedFields } = object.metadata;
  if (managedFields === entries) return object;
  if (managedFields === undefined && entries.length === 0) return object;
  // One by one: a copy by spread and rest takes several times as long, and this runs on every write.
  const metadata: Record<string, unknown> = {};
  for (const name in object.metadata) {
    if (name !== 'managedFields') metadata[name] = object.metadata[name as keyof ObjectMeta];
  }
  if (entries.length > 0) metadata.managedFields = entries;
  return withMetadata(object, metadata as ObjectMeta);
}

function writeEntry(entry: Managed): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, fields, subresource } = entry;
  const fieldsType = 'FieldsV1';
  const fieldsV1 = fields;
  // By far the most common form, made in one piece.
  if (manager !== '' && time !== undefined && subresource === '')
    return { manager, operation, apiVersion, time, fieldsType, fieldsV1 };
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType,
    fieldsV1,
    ...(subresource === '' ? {} : { subresource }),
  };
}

const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function byAge(a: Managed, b: Managed): number {
  return order(a.time ?? '', b.time ?? '') || order(a.manager, b.manager);
}

/** Applies first, then by age. */
function inStoredOrder(a: Managed, b: Managed): number {
  return (
    order(a.operation, b.operation) ||
    byAge(a, b) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  );
}

/** More updaters than this are merged, oldest first, so that the list cannot grow without bound. */
const maxUpdates = 10;

export function capUpdates(entries: readonly Managed[]): readonly Managed[] {
  if (entries.length <= maxUpdates) return entries;
  const updates = entries.filter((entry) => entry.operation === 'Update');
  if (updates.length <= maxUpdates) return entries;
  const buckets = fillBuckets(updates.sort(byAge));
  const gone = new Set([...buckets.values()].flat());
  const kept = updates.filter((entry) => !gone.has(entry));
  return [
    ...entries.filter((entry) => entry.operation === 'Apply'),
    ...kept.map((entry) => withTaken(entry, buckets.get(entry) ?? [])),
  ];
}

const ancient = 'ancient-changes';

/** The entries that take others in, and those that each of them takes. */
function fillBuckets(updates: readonly Managed[]): ReadonlyMap<Managed, readonly Managed[]> {
  // The oldest of each version takes the next ones in, until few enough are left; one that did so before goes on.
  const targets = new Map<string, Bucket>();
  for (const entry of updates) {
    const { apiVersion, manager, subresource } = entry;
    if (manager !== ancient || subresource !== '' || targets.has(apiVersion)) continue;
    targets.set(apiVersion, { target: entry, taken: [] });
  }
  let left = updates.length;
  const versions = new Set<string>();
  for (const entry of updates) {
    if (left <= maxUpdates) break;
    const { apiVersion } = entry;
    const bucket = targets.get(apiVersion);
    if (!versions.has(apiVersion)) {
      versions.add(apiVersion);
      if (bucket === undefined) targets.set(apiVersion, { target: entry, taken: [] });
    } else if (bucket !== undefined && bucket.target !== entry) {
      bucket.taken.push(entry);
      left -= 1;
    }
  }
  return new Map([...targets.values()].map(({ target, taken }) => [target, taken]));
}

type Bucket = { readonly target: Managed; readonly taken: Managed[] };

/** The merged entry, with the time of the last one. */
function withTaken(entry: Managed, taken: readonly Managed[]): Managed {
  const last = taken.at(-1);
  if (last === undefined) return entry;
  const fields = printFieldSet(unionAll([entry, ...taken].map((one) => one.fields)));
  return { ...last, manager: ancient, subresource: '', fields };
}
