// Reads a snapshot from an API server, with the rights that the user has. Nothing is watched and nothing is written.
import { setMaxListeners } from 'node:events';
import type { ApiCaller } from '../client/api-call.ts';
import type { ResourceNames } from '../client/resource.ts';
import { type ListOptions, type ResourceClient, resourceClient } from '../client/rest.ts';
import { isApiError, isExpired, isForbidden } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { systemNamespace } from './cluster-settings.ts';
import { isKeptKind, type PastMoment, readPastObjects } from './read-history.ts';
import {
  allSnapshotKinds,
  makeSnapshot,
  type Snapshot,
  type SnapshotKind,
  type SnapshotObjects,
  snapshotKinds,
  type Unread,
} from './snapshot.ts';
import { trimObject } from './trim-object.ts';

export type ReadSnapshotOptions = {
  /** Absent: all. Resources without namespaces are read in any case. */
  readonly namespaces?: readonly string[];
  /** Absent: all. */
  readonly kinds?: readonly SnapshotKind[];
  /** Reads objects as they were then, if their history is retained, the others as they are; absent: as they are. Throws HistoryUnavailable. */
  readonly at?: PastMoment;
  /** Objects that are read with all their fields; absent: none. */
  readonly keepsWhole?: (kind: SnapshotKind, object: KubeObject) => boolean;
  /** Called after each list, for progress. */
  readonly onRead?: (kind: SnapshotKind, count: number) => void;
  readonly signal?: AbortSignal;
};

/** Pages keep single answers small, on this side and in the server. */
const pageSize = 1000;

type Reader = Omit<ReadSnapshotOptions, 'namespaces' | 'kinds'> & {
  readonly caller: ApiCaller;
  /** The revision at which the lists are read; absent for the first. */
  readonly revision?: string;
};

/** For the first list the moment that was named, for the others its revision. */
const momentOf = ({ at, revision }: Reader): PastMoment | undefined =>
  at !== undefined && revision !== undefined ? { revision } : at;

/**
 * The first list sets the revision, and the others are read at it, if the server still has it. Lists that the server refuses are
 * recorded and left empty; errors of the connection are thrown.
 */
export async function readSnapshot(
  caller: ApiCaller,
  { namespaces, kinds = allSnapshotKinds, ...rest }: ReadSnapshotOptions = {},
): Promise<Snapshot> {
  // All lists share one signal: many listeners on it are no leak.
  if (rest.signal !== undefined) setMaxListeners(0, rest.signal);
  const [first, ...others] = firstKinds(kinds);
  const reader: Reader = { caller, ...rest };
  const start = first === undefined ? [] : [await readKind(reader, first, namespaces)];
  const revision = start[0]?.revision;
  const at = revision === undefined ? reader : { ...reader, revision };
  const all = [
    ...start,
    ...(await Promise.all(others.map((kind) => readKind(at, kind, namespaces)))),
  ];
  const isPresent = ({ kind }: ReadKind): boolean => rest.at !== undefined && !isKeptKind(kind);
  const isOneRevision = all.every(
    (one) => one.kind === 'events' || one.revision === revision || isPresent(one),
  );
  return makeSnapshot({
    objects: Object.fromEntries(
      all.map(({ kind, items }) => [kind, items]),
    ) as Partial<SnapshotObjects>,
    unread: all.flatMap(({ unread }) => unread),
    ...(revision === undefined || !isOneRevision ? {} : { revision }),
    ...(rest.at === undefined ? {} : { present: all.filter(isPresent).map(({ kind }) => kind) }),
    ...(namespaces === undefined ? {} : { namespaces }),
  });
}

/** Services first: almost everyone may list them. Then those that can be read at an earlier moment, which the first decides. */
function firstKinds(kinds: readonly SnapshotKind[]): readonly SnapshotKind[] {
  const rank = (kind: SnapshotKind): number => (kind === 'services' ? 2 : Number(isKeptKind(kind)));
  return [...kinds].sort((a, b) => rank(b) - rank(a));
}

type ReadKind = {
  readonly kind: SnapshotKind;
  readonly items: readonly KubeObject[];
  readonly unread: readonly Unread[];
  readonly revision?: string;
};

async function readKind(
  reader: Reader,
  kind: SnapshotKind,
  namespaces: readonly string[] | undefined,
): Promise<ReadKind> {
  const scopes = scopesOf(kind, namespaces);
  const lists = await Promise.all(scopes.map((namespace) => readList(reader, kind, namespace)));
  const items = lists.flatMap((list) => ('items' in list ? list.items : []));
  const [revision, ...otherRevisions] = new Set(
    lists.map((list) => ('items' in list ? list.resourceVersion : reader.revision)),
  );
  reader.onRead?.(kind, items.length);
  return {
    kind,
    items,
    unread: lists.flatMap((list) => ('items' in list ? [] : [list])),
    ...(revision === undefined || otherRevisions.length > 0 ? {} : { revision }),
  };
}

/** Namespaces; undefined for a list without one. */
export function scopesOf(
  kind: SnapshotKind,
  namespaces: readonly string[] | undefined,
): readonly (string | undefined)[] {
  if (kind === 'configMaps') return [systemNamespace];
  return namespaces === undefined || !snapshotKinds[kind].namespaced ? [undefined] : namespaces;
}

type ReadList =
  | { readonly items: readonly KubeObject[]; readonly resourceVersion: string }
  | Unread;

async function readList(
  reader: Reader,
  kind: SnapshotKind,
  namespace: string | undefined,
): Promise<ReadList> {
  const client = resourceClient<KubeObject>(reader.caller, namesOf(kind));
  const options: ListOptions = {
    pageSize,
    transform: (object) =>
      reader.keepsWhole?.(kind, object) === true ? object : trimObject(kind, object),
    ...(namespace === undefined ? {} : { namespace }),
    ...(kind === 'events' ? { fieldSelector: 'type=Warning' } : {}),
    ...(reader.signal === undefined ? {} : { signal: reader.signal }),
  };
  try {
    if (reader.at !== undefined)
      return await listPast(reader, { kind, namespace, client, options });
    return await listAt(client, kind === 'events' ? undefined : reader.revision, options);
  } catch (error) {
    return unreadBecause(error, { kind, ...(namespace === undefined ? {} : { namespace }) });
  }
}

type PastList = {
  readonly kind: SnapshotKind;
  readonly namespace: string | undefined;
  readonly client: ResourceClient<KubeObject>;
  readonly options: ListOptions;
};

async function listPast(reader: Reader, { kind, namespace, client, options }: PastList) {
  const moment = momentOf(reader);
  if (moment === undefined || !isKeptKind(kind)) return client.list(options);
  const { caller, signal } = reader;
  const scope = {
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(signal === undefined ? {} : { signal }),
  };
  const { items, revision } = await readPastObjects(caller, scope, moment);
  return { items: items.map((object) => trimObject(kind, object)), resourceVersion: revision };
}

/** Of errors of the server; those of the connection are thrown. */
export function unreadBecause(error: unknown, what: Pick<Unread, 'kind' | 'namespace'>): Unread {
  if (!isApiError(error)) throw error;
  const { message, status } = error;
  const reason = isForbidden(error) ? 'forbidden' : status.code === 404 ? 'not-served' : 'failed';
  return { ...what, reason, message };
}

/** Without the columns, which differ in type from kind to kind. */
export function namesOf(kind: SnapshotKind): ResourceNames {
  const { group, version, kind: name, plural, namespaced } = snapshotKinds[kind];
  return { group, version, kind: name, plural, namespaced };
}

/** A server may have compacted the revision, or may store the resource elsewhere with revisions of its own. */
async function listAt(
  client: ResourceClient<KubeObject>,
  revision: string | undefined,
  options: ListOptions,
) {
  if (revision === undefined) return client.list(options);
  const exactly = { ...options, resourceVersion: revision, resourceVersionMatch: 'Exact' } as const;
  try {
    return await client.list(exactly);
  } catch (error) {
    if (!isApiError(error) || !(isExpired(error) || hasNoRevision.has(error.status.code ?? 0)))
      throw error;
    return client.list(options);
  }
}

/** Bad request, and "too large resource version", which is a timeout. */
const hasNoRevision: ReadonlySet<number> = new Set([400, 504]);
