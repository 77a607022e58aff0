// Reads earlier versions of objects from an API server of Fairlead, which retains those of some resources for a while.
import { type ApiCaller, callApi } from '../client/api-call.ts';
import { isApiError } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { parseTime } from '../schema/time.ts';
import { type SnapshotKind, snapshotKinds } from './snapshot.ts';

/** The kinds whose history is retained. */
const keptKinds = ['services', 'endpointSlices', 'endpoints', 'pods', 'nodes'] as const;
export type KeptKind = (typeof keptKinds)[number];

export function isKeptKind(kind: SnapshotKind): kind is KeptKind {
  return keptKinds.some((kept) => kept === kind);
}

export type PastMoment = { readonly timeMs: number } | { readonly revision: string };

/** Since when the server has every change. */
export type HistoryStart = { readonly timeMs: number; readonly revision: string };

export type HistoryScope = {
  readonly kind: KeptKind;
  /** Absent: all, or a resource without namespaces. */
  readonly namespace?: string;
  /** Absent: all objects. */
  readonly name?: string;
  readonly labelSelector?: string;
  /** Applied to each object as it arrives: what is not needed is not held in memory. */
  readonly transform?: (object: KubeObject) => KubeObject;
  readonly signal?: AbortSignal;
};

export type ObjectChange = {
  readonly type: 'Created' | 'Updated' | 'Deleted';
  readonly revision: string;
  readonly timeMs: number;
  /** Absent where the server does not know. */
  readonly user?: string;
  /** The field manager that wrote; absent for a delete. */
  readonly manager?: string;
  /** After the change; the last state of an object that was deleted. */
  readonly object: KubeObject;
};

/** The server has no history that could answer. The message is a sentence for people. */
export class HistoryUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'HistoryUnavailable';
  }
}

type Page = {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly since: { readonly time: string; readonly resourceVersion: string };
  readonly now: string;
};
type PastPage = Page & { readonly items: readonly KubeObject[] };
type ChangePage = Page & {
  readonly items: readonly (Omit<ObjectChange, 'revision' | 'timeMs'> & {
    readonly resourceVersion: string;
    readonly time: string;
  })[];
};

export type PastObjects = {
  readonly items: readonly KubeObject[];
  readonly revision: string;
  readonly since: HistoryStart;
};

/** The objects as they were. Throws HistoryUnavailable, and ApiErrors such as those of missing rights. */
export async function readPastObjects(
  caller: ApiCaller,
  scope: HistoryScope,
  moment: PastMoment,
): Promise<PastObjects> {
  const items: KubeObject[] = [];
  const { transform = unchanged } = scope;
  let at: Readonly<Record<string, string>> =
    'revision' in moment
      ? { revision: moment.revision }
      : { at: new Date(moment.timeMs).toISOString() };
  let next: string | undefined;
  for (;;) {
    const page = (await read(caller, scope, { ...at, ...continuing(next) })) as PastPage;
    for (const item of page.items) items.push(transform(item));
    const revision = page.metadata.resourceVersion ?? '';
    next = page.metadata.continue;
    if (next === undefined) return { items, revision, since: startOf(page) };
    at = { revision };
  }
}

const unchanged = (object: KubeObject): KubeObject => object;

export type ObjectChanges = {
  /** Oldest first. */
  readonly changes: readonly ObjectChange[];
  readonly since: HistoryStart;
  /** There were more changes than were to be read: the oldest ones are left out. */
  readonly isCut: boolean;
};

export type ChangeRange = { readonly sinceMs: number; readonly maxChanges?: number };

/** Throws as `readPastObjects`. */
export async function readChanges(
  caller: ApiCaller,
  scope: HistoryScope,
  { sinceMs, maxChanges = Number.POSITIVE_INFINITY }: ChangeRange,
): Promise<ObjectChanges> {
  const changes: ObjectChange[] = [];
  const { transform = unchanged } = scope;
  const sinceTime = new Date(sinceMs).toISOString();
  let next: string | undefined;
  for (;;) {
    const limit = String(Math.min(pageSize, maxChanges));
    const query = { sinceTime, limit, ...continuing(next) };
    const page = (await read(caller, scope, query)) as ChangePage;
    for (const { resourceVersion, time, object, ...change } of page.items)
      changes.push({
        ...{ ...change, object: transform(object) },
        ...{ revision: resourceVersion, timeMs: parseTime(time) ?? 0 },
      });
    next = page.metadata.continue;
    const isCut = next !== undefined && changes.length >= maxChanges;
    if (next === undefined || isCut)
      return { changes: changes.reverse(), since: startOf(page), isCut };
  }
}

const pageSize = 2000;

const continuing = (next: string | undefined) => (next === undefined ? {} : { continue: next });

const startOf = ({ since }: Page): HistoryStart => ({
  timeMs: parseTime(since.time) ?? 0,
  revision: since.resourceVersion,
});

export type HistoryClock = {
  /** The time on the clock by which the server records. */
  readonly nowMs: number;
  readonly since: HistoryStart;
};

/** Takes a right to read the scope. Throws as `readPastObjects`. */
export async function readHistoryClock(
  caller: ApiCaller,
  scope: HistoryScope,
): Promise<HistoryClock> {
  const page = (await read(caller, scope, { sinceTime: afterAll })) as ChangePage;
  return { nowMs: parseTime(page.now) ?? Date.now(), since: startOf(page) };
}

/** Since then nothing has changed. */
const afterAll = '9999-01-01T00:00:00Z';

/** Objects of some resource that the user may read at a time: what the revision of the cluster was then. */
export async function findRevision(
  caller: ApiCaller,
  timeMs: number,
  scope: HistoryScope = { kind: 'services' },
): Promise<string> {
  return (await readPastObjects(caller, scope, { timeMs })).revision;
}

async function read(
  caller: ApiCaller,
  { kind, namespace, name, labelSelector, signal }: HistoryScope,
  query: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { plural, namespaced } = snapshotKinds[kind];
  const within =
    namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  const parameters = new URLSearchParams({
    ...query,
    ...(labelSelector === undefined ? {} : { labelSelector }),
  });
  const path = `/apis/${group}/v1alpha1${within}/${plural}${object}?${parameters}`;
  try {
    return await callApi(caller, {
      method: 'GET',
      path,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    throw explained(error);
  }
}

const group = 'history.fairlead.dev';

/** Servers without the group do not know it, and refuse it to who may not read everything. */
function explained(error: unknown): unknown {
  if (!isApiError(error)) return error;
  const { code, message = '' } = error.status;
  const isUnknown =
    (code === 404 && !/" not found$/.test(message)) ||
    (code === 403 && message.includes(`API group "${group}"`));
  if (isUnknown) {
    const text = 'This API server keeps no history: only servers of Fairlead do';
    return new HistoryUnavailable(text, { cause: error });
  }
  if (code !== 410) return error;
  return new HistoryUnavailable(capitalized(message), { cause: error });
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
