// What a request asks for, read off its method, path and query: what access control and dispatch go by.
import { parseFieldSelector } from '../meta/fields.ts';
import { nameIsPathSegment } from '../meta/names.ts';

export type ResourceRequest = {
  readonly kind: 'resource';
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** What follows the subresource (proxy paths), without a leading slash. */
  readonly rest: string;
  /** Of reads, as it stands in the query. */
  readonly fieldSelector?: string;
};

export type PathRequest = { readonly kind: 'path'; readonly verb: string; readonly path: string };

export type RequestInfo = ResourceRequest | PathRequest;

const namespaceSubresources = new Set(['status', 'finalize']);

const verbOfMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

export function parseRequest(method: string, path: string, query: URLSearchParams): RequestInfo {
  // Decoded before it is split: an encoded slash separates too, so that no name ever holds one.
  const parts = decoded(path)
    .split('/')
    .filter((part) => part !== '');
  const verb = verbOfMethod[method] ?? method.toLowerCase();
  const pathRequest: PathRequest = { kind: 'path', verb: method.toLowerCase(), path };
  const [root] = parts;
  const grouped = root === 'apis';
  if (root !== 'api' && !grouped) return pathRequest;
  const group = grouped ? parts[1] : '';
  const version = grouped ? parts[2] : parts[1];
  let rest = parts.slice(grouped ? 3 : 2);
  if (group === undefined || version === undefined || rest.length === 0) return pathRequest;
  // The old form /api/v1/watch/services.
  const watchPath = rest[0] === 'watch' && rest.length > 1;
  if (watchPath) rest = rest.slice(1);
  const target = targetOf(rest);
  return {
    kind: 'resource',
    verb: verbFor(verb, target, { watchPath, watchQuery: isWatch(query) }),
    group,
    version,
    ...target,
    ...(verb === 'get' ? narrowedBy(query, target) : {}),
  };
}

type Target = {
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  readonly rest: string;
};

function targetOf(parts: readonly string[]): Target {
  const [first = '', second = '', third] = parts;
  const underNamespace =
    first === 'namespaces' && third !== undefined && !namespaceSubresources.has(third);
  if (underNamespace) return { namespace: second, ...inside(parts.slice(2)) };
  return { namespace: first === 'namespaces' ? second : '', ...inside(parts) };
}

function inside([resource = '', name = '', subresource = '', ...rest]: readonly string[]) {
  return { resource, name, subresource, rest: rest.join('/') };
}

type WatchWish = { readonly watchPath: boolean; readonly watchQuery: boolean };

/** `watch=true` turns a list into a watch; one object is watched only by the old path. */
function verbFor(verb: string, target: Target, { watchPath, watchQuery }: WatchWish): string {
  if (watchPath) return 'watch';
  if (target.name !== '') return verb;
  if (verb === 'get') return watchQuery ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** Any value but these two means a watch, even none. */
export function isWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A list narrowed to one name counts as access to that name. */
function narrowedBy(query: URLSearchParams, { name }: Target): Partial<ResourceRequest> {
  const fieldSelector = query.get('fieldSelector') ?? '';
  if (fieldSelector === '') return {};
  return { fieldSelector, ...(name === '' ? { name: nameSelected(fieldSelector) } : {}) };
}

function nameSelected(fieldSelector: string): string {
  const parsed = parseFieldSelector(fieldSelector);
  if ('error' in parsed) return '';
  const term = parsed.selector.find((t) => t.field === 'metadata.name' && t.operator === '=');
  return term !== undefined && nameIsPathSegment(term.value, false).length === 0 ? term.value : '';
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
