// The API verbs for one resource, over any transport. Failures are thrown as ApiError.
import { isExpired } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { type ApiCaller, callApi } from './api-call.ts';
import {
  type ObjectName,
  queryText,
  type ResourceType,
  resourcePath,
  typedAs,
} from './resource.ts';

export type ReadOptions = { readonly signal?: AbortSignal; readonly subresource?: string };

export type ListOptions = {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  /** How the version is meant; absent: not older than it. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Changes each object as soon as its page is read: a large list of trimmed objects needs less memory. */
  readonly transform?: <T extends KubeObject>(object: T) => T;
  /** Objects per page; all pages are read. */
  readonly pageSize?: number;
  /** Requests PartialObjectMetadata. */
  readonly metadataOnly?: boolean;
  readonly signal?: AbortSignal;
};

export type ObjectList<T> = { readonly items: readonly T[]; readonly resourceVersion: string };

export type WriteOptions = {
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
};

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export type PatchOptions = WriteOptions & {
  readonly type: PatchType;
  /** Server-side apply only: takes over fields owned by other managers. */
  readonly force?: boolean;
};

export type DeleteOptions = {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
};

export type ResourceClient<T extends KubeObject> = {
  readonly get: (name: ObjectName, options?: ReadOptions) => Promise<T>;
  readonly list: (options?: ListOptions) => Promise<ObjectList<T>>;
  readonly create: (object: T, options?: WriteOptions) => Promise<T>;
  /** PUT: fails with a conflict when the object was changed since it was read. */
  readonly update: (object: T, options?: WriteOptions) => Promise<T>;
  readonly patch: (name: ObjectName, patch: unknown, options: PatchOptions) => Promise<T>;
  readonly delete: (name: ObjectName, options?: DeleteOptions) => Promise<void>;
  readonly deleteCollection: (
    options: ListOptions & Pick<DeleteOptions, 'propagationPolicy'>,
  ) => Promise<void>;
};

/** As client-go's pager. */
const defaultPageSize = 500;

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

export const metadataAccept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataListAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export function resourceClient<T extends KubeObject>(
  caller: ApiCaller,
  type: ResourceType<T>,
): ResourceClient<T> {
  const send = async (call: Parameters<typeof callApi>[1]): Promise<T> =>
    typedAs(type, (await callApi(caller, call)) as T);
  return {
    get: (name, options = {}) =>
      send({
        method: 'GET',
        path: resourcePath(type, { ...name, ...below(options) }),
        ...until(options),
      }),
    list: (options = {}) => listAll(caller, type, options),
    create: (object, options = {}) =>
      send({
        method: 'POST',
        path:
          resourcePath(type, { ...scopeOf(object), ...parent(object, options) }) +
          writeQuery(options),
        body: object,
        ...until(options),
      }),
    update: (object, options = {}) =>
      send({
        method: 'PUT',
        path: resourcePath(type, { ...nameOf(object), ...below(options) }) + writeQuery(options),
        body: object,
        ...until(options),
      }),
    patch: (name, patch, options) =>
      send({
        method: 'PATCH',
        path:
          resourcePath(type, { ...name, ...below(options) }) + writeQuery(options, options.force),
        contentType: patchTypes[options.type],
        body: patch,
        ...until(options),
      }),
    delete: async (name, { signal, ...options } = {}) => {
      const path = resourcePath(type, name);
      await callApi(caller, {
        method: 'DELETE',
        path,
        body: deleteBody(options),
        ...until({ signal }),
      });
    },
    deleteCollection: async ({ propagationPolicy, ...options }) => {
      const query = queryText({ ...selection(options), propagationPolicy });
      const path = resourcePath(type, scope(options)) + query;
      await callApi(caller, { method: 'DELETE', path, ...until(options) });
    },
  };
}

const until = ({
  signal,
}: {
  readonly signal?: AbortSignal | undefined;
}): { signal?: AbortSignal } => (signal === undefined ? {} : { signal });
const below = ({ subresource }: { readonly subresource?: string }): { subresource?: string } =>
  subresource === undefined ? {} : { subresource };
const scope = ({ namespace }: { readonly namespace?: string }): { namespace?: string } =>
  namespace === undefined ? {} : { namespace };
const scopeOf = ({ metadata }: KubeObject): { namespace?: string } =>
  metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
const nameOf = (object: KubeObject): ObjectName => ({
  ...scopeOf(object),
  name: object.metadata.name ?? '',
});

/** A subresource is created below its object, an object below its collection. */
const parent = (
  object: KubeObject,
  { subresource }: WriteOptions,
): { name?: string; subresource?: string } =>
  subresource === undefined ? {} : { name: object.metadata.name ?? '', subresource };

function writeQuery({ fieldManager, dryRun }: WriteOptions, force?: boolean): string {
  return queryText({ fieldManager, dryRun: dryRun === true ? 'All' : undefined, force });
}

function deleteBody({ dryRun, ...options }: Omit<DeleteOptions, 'signal'>): object {
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...options,
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  };
}

function selection({
  labelSelector,
  fieldSelector,
}: ListOptions): Readonly<Record<string, string | undefined>> {
  return { labelSelector, fieldSelector };
}

type RawList<T> = {
  readonly items?: readonly T[] | null;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
};

/** Reads all pages. When the continue token has expired, the list is read again, once and without pages. */
async function listAll<T extends KubeObject>(
  caller: ApiCaller,
  type: ResourceType<T>,
  options: ListOptions,
): Promise<ObjectList<T>> {
  const { transform = unchanged } = options;
  const items: T[] = [];
  let token: string | undefined;
  for (;;) {
    try {
      const page = await listPage(caller, type, { ...options, token });
      for (const item of page.items ?? []) items.push(transform(typedAs(type, item)));
      token = page.metadata.continue;
      if (!token) return { items, resourceVersion: page.metadata.resourceVersion ?? '' };
    } catch (error) {
      if (token === undefined || !isExpired(error)) throw error;
      return listAll(caller, type, { ...options, pageSize: 0 });
    }
  }
}

const unchanged = <T>(object: T): T => object;

async function listPage<T extends KubeObject>(
  caller: ApiCaller,
  type: ResourceType<T>,
  options: ListOptions & { readonly token: string | undefined },
): Promise<RawList<T>> {
  const { pageSize = defaultPageSize, resourceVersion, resourceVersionMatch, token } = options;
  const query = queryText({
    ...selection(options),
    limit: pageSize === 0 ? undefined : pageSize,
    continue: token,
    // The continue token contains the version.
    resourceVersion: token === undefined ? resourceVersion : undefined,
    resourceVersionMatch: token === undefined ? resourceVersionMatch : undefined,
  });
  return (await callApi(caller, {
    method: 'GET',
    path: resourcePath(type, scope(options)) + query,
    ...(options.metadataOnly === true ? { accept: metadataListAccept } : {}),
    ...until(options),
  })) as RawList<T>;
}
