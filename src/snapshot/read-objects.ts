// Reads single objects and small lists, wave by wave: for questions about one Service in a large cluster. What is requested twice is read once.
import type { ApiCaller } from '../client/api-call.ts';
import { type ResourceClient, resourceClient } from '../client/rest.ts';
import { isApiError, isForbidden, isNotFound } from '../meta/api-error.ts';
import { parseFieldSelector } from '../meta/fields.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { isKeptKind, type KeptKind, type PastMoment, readPastObjects } from './read-history.ts';
import { namesOf, unreadBecause } from './read-snapshot.ts';
import {
  makeSnapshot,
  type Snapshot,
  type SnapshotKind,
  type SnapshotObjects,
  snapshotKinds,
  type Unread,
} from './snapshot.ts';
import { trimObject } from './trim-object.ts';

export type ObjectRequest = {
  readonly kind: SnapshotKind;
  /** Absent: all namespaces, or a resource without namespaces. */
  readonly namespace?: string;
  /** Absent: a list. */
  readonly name?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
};

export type ObjectReader = {
  readonly read: (requests: readonly ObjectRequest[]) => Promise<void>;
  /** All that was read until now. */
  readonly snapshot: () => Snapshot;
};

export type ObjectReaderOptions = {
  /** Reads objects as they were then, if their history is retained, the others as they are; absent: as they are. Throws HistoryUnavailable. */
  readonly at?: PastMoment;
  readonly signal?: AbortSignal;
};

const pageSize = 1000;

export function openObjectReader(
  caller: ApiCaller,
  { at, signal }: ObjectReaderOptions = {},
): ObjectReader {
  const found = new Map<SnapshotKind, Map<string, KubeObject>>();
  const unread = new Map<string, Unread>();
  const requested = new Set<string>();
  const readOne = async (request: ObjectRequest): Promise<void> => {
    const { kind, namespace } = request;
    try {
      const objects =
        at !== undefined && isKeptKind(kind)
          ? await fetchPast(caller, { ...request, kind, at, signal })
          : await fetchObjects(caller, request, signal);
      const known = found.get(kind) ?? new Map<string, KubeObject>();
      found.set(kind, known);
      for (const one of objects) known.set(objectKey(one.metadata), trimObject(kind, one));
    } catch (error) {
      const what = { kind, ...(namespace === undefined ? {} : { namespace }) };
      unread.set(JSON.stringify(what), unreadBecause(error, what));
    }
  };
  return {
    async read(requests) {
      const fresh = requests.filter((one) => {
        const key = JSON.stringify(one);
        return requested.has(key) ? false : requested.add(key);
      });
      await Promise.all(fresh.map(readOne));
    },
    snapshot: () =>
      makeSnapshot({
        objects: Object.fromEntries(
          [...found].map(([kind, objects]) => [kind, [...objects.values()]]),
        ) as Partial<SnapshotObjects>,
        unread: [...unread.values()],
        ...(at === undefined
          ? {}
          : { present: [...found.keys()].filter((one) => !isKeptKind(one)).sort() }),
      }),
  };
}

type PastRequest = ObjectRequest & {
  readonly kind: KeptKind;
  readonly at: PastMoment;
  readonly signal: AbortSignal | undefined;
};

async function fetchPast(
  caller: ApiCaller,
  { at, signal, name, fieldSelector, ...rest }: PastRequest,
): Promise<readonly KubeObject[]> {
  const scope = { ...rest, ...(signal === undefined ? {} : { signal }) };
  const list = async (selector: string): Promise<readonly KubeObject[]> => {
    const { items } = await readPastObjects(caller, scope, at);
    return items.filter((object) => hasFields(rest.kind, object, selector));
  };
  if (name === undefined) return list(fieldSelector ?? '');
  try {
    return (await readPastObjects(caller, { ...scope, name }, at)).items;
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (isNotFound(error)) return [];
    if (!isForbidden(error)) throw error;
    return list(`metadata.name=${name}`);
  }
}

/** History has no field selectors. */
function hasFields(kind: KeptKind, object: KubeObject, selector: string): boolean {
  const parsed = parseFieldSelector(selector);
  if ('error' in parsed) return false;
  const fields: Readonly<Record<string, ((object: never) => string) | undefined>> = {
    'metadata.name': ({ metadata }: KubeObject) => metadata.name ?? '',
    ...snapshotKinds[kind].fieldSelectors,
  };
  return parsed.selector.every(
    ({ field, operator, value }) =>
      (fields[field]?.(object as never) === value) === (operator === '='),
  );
}

async function fetchObjects(
  caller: ApiCaller,
  { kind, name, ...scope }: ObjectRequest,
  signal: AbortSignal | undefined,
): Promise<readonly KubeObject[]> {
  const client = resourceClient<KubeObject>(caller, namesOf(kind));
  const options = { ...scope, ...(signal === undefined ? {} : { signal }) };
  if (name === undefined) return (await client.list({ ...options, pageSize })).items;
  return fetchNamed(client, { ...options, name });
}

type Named = {
  readonly name: string;
  readonly namespace?: string;
  readonly signal?: AbortSignal;
};

/** Rights to list are more common than rights to get, among those who may have only one of them. */
async function fetchNamed(
  client: ResourceClient<KubeObject>,
  { name, namespace, signal }: Named,
): Promise<readonly KubeObject[]> {
  const scope = namespace === undefined ? {} : { namespace };
  const options = signal === undefined ? {} : { signal };
  try {
    return [await client.get({ name, ...scope }, options)];
  } catch (error) {
    if (!isApiError(error)) throw error;
    // Of a resource that is not served, too: it has no objects.
    if (isNotFound(error)) return [];
    if (!isForbidden(error)) throw error;
    const fieldSelector = `metadata.name=${name}`;
    return (await client.list({ ...scope, ...options, fieldSelector })).items;
  }
}
