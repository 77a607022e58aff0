// Verb, resource and selection of a request, parsed from its method, path and query, once, for access control, dispatch and the verbs.
// Nothing after access control reads a name, a namespace or a selection from anywhere else (`VerbRequest` in message.ts has
// none of them), so what is read or written is what was allowed.
import { type FieldSelector, parseFieldSelector } from '../../meta/fields.ts';
import { nameIsPathSegment } from '../../meta/names.ts';

export type ResourceRequest = {
  readonly kind: 'resource';
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** The one requested object: from the path, or from the field selector of a list or a watch. */
  readonly name: string;
  /** The name in the path; empty for a collection. */
  readonly pathName: string;
  /** Whether the path has a namespace: that of a Namespace itself does not. */
  readonly inNamespace: boolean;
  /** What follows the subresource (proxy paths), without a leading slash. */
  readonly rest: string;
  /** Of list, watch and deletecollection, as in the query; absent when empty. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
};

export type PathRequest = { readonly kind: 'path'; readonly verb: string; readonly path: string };

export type RequestInfo = ResourceRequest | PathRequest;

const namespaceSubresources = new Set(['status', 'finalize']);

/** A map, not an object: a method may be called `constructor`. */
const verbOfMethod: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

export function parseRequest(method: string, path: string, query: URLSearchParams): RequestInfo {
  // Decoded before it is split: an encoded slash separates too, so that no name ever holds one.
  const parts = segments(path.includes('%') ? decoded(path) : path);
  const [root] = parts;
  const isGrouped = root === 'apis';
  if (root !== 'api' && !isGrouped) return pathRequest(method, path);
  const group = isGrouped ? parts[1] : '';
  const version = isGrouped ? parts[2] : parts[1];
  let at = isGrouped ? 3 : 2;
  if (group === undefined || version === undefined || parts.length <= at)
    return pathRequest(method, path);
  // The old form /api/v1/watch/services.
  const watchPath = parts[at] === 'watch' && parts.length > at + 1;
  if (watchPath) at += 1;
  const { namespace, inNamespace, resource, name, subresource, rest } = targetOf(parts, at);
  const verb = verbOfMethod.get(method) ?? method.toLowerCase();
  const watchQuery = query.size > 0 && isWatch(query);
  const info: ResourceRequest = {
    kind: 'resource',
    verb: verbFor(verb, name, { watchPath, watchQuery }),
    group,
    version,
    namespace,
    resource,
    name,
    pathName: name,
    inNamespace,
    subresource,
    rest,
  };
  return query.size === 0 || !selectingVerbs.has(info.verb) ? info : withSelection(info, query);
}

const selectingVerbs = new Set(['list', 'watch', 'deletecollection']);

const pathRequest = (method: string, path: string): PathRequest => ({
  kind: 'path',
  verb: method.toLowerCase(),
  path,
});

/** The non-empty segments between slashes. */
function segments(path: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  while (start < path.length) {
    let end = path.indexOf('/', start);
    if (end < 0) end = path.length;
    if (end > start) parts.push(path.slice(start, end));
    start = end + 1;
  }
  return parts;
}

type Target = {
  readonly namespace: string;
  readonly inNamespace: boolean;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  readonly rest: string;
};

function targetOf(parts: readonly string[], start: number): Target {
  const third = parts[start + 2];
  const isNamespaces = parts[start] === 'namespaces';
  const isInside = isNamespaces && third !== undefined && !namespaceSubresources.has(third);
  const at = isInside ? start + 2 : start;
  return {
    namespace: isNamespaces ? (parts[start + 1] ?? '') : '',
    inNamespace: isInside,
    resource: parts[at] ?? '',
    name: parts[at + 1] ?? '',
    subresource: parts[at + 2] ?? '',
    rest: parts.length > at + 3 ? parts.slice(at + 3).join('/') : '',
  };
}

type WatchRequest = { readonly watchPath: boolean; readonly watchQuery: boolean };

/** `watch=true` turns a list into a watch; one object is watched only by the old path. */
function verbFor(verb: string, name: string, { watchPath, watchQuery }: WatchRequest): string {
  if (watchPath) return 'watch';
  if (name !== '') return verb;
  if (verb === 'get') return watchQuery ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** Any value but these two means a watch, even an empty one. */
export function isWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A parameter that is repeated counts once, by its first value. A read narrowed to one name is access to that name. */
function withSelection(info: ResourceRequest, query: URLSearchParams): ResourceRequest {
  const fieldSelector = query.get('fieldSelector') ?? '';
  const labelSelector = query.get('labelSelector') ?? '';
  const isNarrowed = info.name === '' && info.verb !== 'deletecollection';
  return {
    ...info,
    name: isNarrowed ? selectedName(fieldSelector) : info.name,
    ...(fieldSelector === '' ? {} : { fieldSelector }),
    ...(labelSelector === '' ? {} : { labelSelector }),
  };
}

function selectedName(fieldSelector: string): string {
  if (fieldSelector === '') return '';
  const parsed = parseFieldSelector(fieldSelector);
  const name = 'error' in parsed ? undefined : requiredName(parsed.selector);
  return name !== undefined && nameIsPathSegment(name, false).length === 0 ? name : '';
}

/** The name that the selector requires; the first of several. */
export function requiredName(selector: FieldSelector): string | undefined {
  return selector.find((t) => t.field === 'metadata.name' && t.operator === '=')?.value;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
