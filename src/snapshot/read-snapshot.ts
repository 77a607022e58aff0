// Reads a snapshot from an API server, with the rights that the user has. Nothing is watched and nothing is written.
import type { ApiCaller } from '../client/api-call.ts';
import type { ResourceNames } from '../client/resource.ts';
import { type ListOptions, type ResourceClient, resourceClient } from '../client/rest.ts';
import { isApiError, isExpired, isForbidden } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { systemNamespace } from './cluster-settings.ts';
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

/**
 * The first list sets the revision, and the others are read at it, if the server still has it. Lists that the server refuses are
 * recorded and left empty; errors of the connection are thrown.
 */
export async function readSnapshot(
  caller: ApiCaller,
  { namespaces, kinds = allSnapshotKinds, ...rest }: ReadSnapshotOptions = {},
): Promise<Snapshot> {
  const [first, ...others] = firstKinds(kinds);
  const reader: Reader = { caller, ...rest };
  const start = first === undefined ? [] : [await readKind(reader, first, namespaces)];
  const revision = start[0]?.revision;
  const at = revision === undefined ? reader : { ...reader, revision };
  const all = [
    ...start,
    ...(await Promise.all(others.map((kind) => readKind(at, kind, namespaces)))),
  ];
  const isOneRevision = all.every((one) => one.kind === 'events' || one.revision === revision);
  return makeSnapshot({
    objects: Object.fromEntries(
      all.map(({ kind, items }) => [kind, items]),
    ) as Partial<SnapshotObjects>,
    unread: all.flatMap(({ unread }) => unread),
    ...(revision === undefined || !isOneRevision ? {} : { revision }),
    ...(namespaces === undefined ? {} : { namespaces }),
  });
}

/** Services first: almost everyone may list them. */
function firstKinds(kinds: readonly SnapshotKind[]): readonly SnapshotKind[] {
  return [...kinds].sort((a, b) => Number(b === 'services') - Number(a === 'services'));
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
function scopesOf(
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
    transform: (object) => trimObject(kind, object),
    ...(namespace === undefined ? {} : { namespace }),
    ...(kind === 'events' ? { fieldSelector: 'type=Warning' } : {}),
    ...(reader.signal === undefined ? {} : { signal: reader.signal }),
  };
  try {
    return await listAt(client, kind === 'events' ? undefined : reader.revision, options);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return {
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      reason: isForbidden(error)
        ? 'forbidden'
        : error.status.code === 404
          ? 'not-served'
          : 'failed',
      message: error.message,
    };
  }
}

/** Without the columns, which differ in type from kind to kind. */
function namesOf(kind: SnapshotKind): ResourceNames {
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
