// Routes a request to its handler.
import { allVerbs, type KindDefinition, type SubresourceDefinition } from '../kinds/definition.ts';
import { methodNotAllowed, notServed } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { User } from './access/user.ts';
import type { Resource } from './cache/resources.ts';
import type { ApiContext } from './context.ts';
import type { Discovery } from './discovery/discovery.ts';
import {
  createEmptyResources,
  type FindEmpty,
  isRead,
  listedCollections,
  refusedWrite,
} from './discovery/empty-collections.ts';
import type { Health } from './discovery/health.ts';
import { isRoot, rootPaths } from './discovery/root-paths.ts';
import { answerHistory } from './history/answer-history.ts';
import { isHistoryRequest } from './history/kept-resources.ts';
import { createPace, type Pace } from './limits/pace.ts';
import {
  type ApiRequest,
  type ApiResponse,
  header,
  type RawUrl,
  type VerbRequest,
} from './message.ts';
import type { OpenApi } from './openapi/openapi.ts';
import { servedPartKinds } from './parts/all.ts';
import type { PartCall, PartKindServed } from './parts/part-call.ts';
import type { RequestInfo, ResourceRequest } from './request/request-info.ts';
import { reviewKinds } from './reviews/all.ts';
import { answerReview, type ReviewParts } from './reviews/answer-review.ts';
import { subresourceHandlers } from './subresources/all.ts';
import { bind } from './subresources/binding.ts';
import { answerOpenId } from './tokens/openid.ts';
import type { Call, VerbHandler } from './verbs/call.ts';
import { create } from './verbs/create.ts';
import { remove } from './verbs/delete.ts';
import { removeCollection } from './verbs/delete-collection.ts';
import { get } from './verbs/get.ts';
import { list } from './verbs/list.ts';
import { patch } from './verbs/patch.ts';
import { update } from './verbs/update.ts';
import { watch } from './verbs/watch.ts';

export type Dispatch = (call: {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: User;
  readonly warn: (text: string) => void;
  /** Adds an annotation to the audit event of the request. */
  readonly annotate: (key: string, value: string) => void;
}) => Promise<ApiResponse> | ApiResponse;

export type DispatchParts = ReviewParts & {
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
  readonly health: Health;
  readonly version: string;
  readonly metricsText: () => string;
  /** The address of this server for clients outside, `host:port`. */
  readonly serverAddress: string;
};

type AllParts = DispatchParts & { readonly findEmpty: FindEmpty };

export function createDispatch(required: DispatchParts): Dispatch {
  const parts = { ...required, findEmpty: createEmptyResources() };
  // Field by field: rest properties cost more.
  return ({ request, info, user, warn, annotate }) =>
    info.kind === 'path'
      ? answerPath(parts, request)
      : answerResource(parts, {
          request,
          rawUrl: request,
          info,
          user,
          warn,
          annotate,
          pace: createPace(),
        });
}

async function answerPath(parts: DispatchParts, request: ApiRequest): Promise<ApiResponse> {
  const { path, query } = request;
  if (isRoot(path)) {
    const body = JSON.stringify(rootPaths(parts.discovery.paths));
    return { status: 200, headers: json, body };
  }
  const accept = header(request, 'accept');
  const ifNoneMatch = header(request, 'if-none-match');
  const userAgent = header(request, 'user-agent');
  const discovered = parts.discovery.handle({ path, query, accept, ifNoneMatch, userAgent });
  if (discovered !== undefined) {
    if (request.method !== 'GET' && isReadOnly(path)) throw methodNotAllowed();
    return discovered;
  }
  const acceptEncoding = header(request, 'accept-encoding');
  const described = await parts.openApi.handle({
    path,
    query,
    accept,
    ifNoneMatch,
    acceptEncoding,
  });
  if (described !== undefined) return described;
  const health = await parts.health.handle(path, query);
  if (health !== undefined) return text(health.status, health.text);
  const published = answerOpenId(parts.context.tokens, path, parts.serverAddress);
  if (published !== undefined) return published;
  const trimmed = path.replace(/\/$/, '');
  if (trimmed === '/version') {
    if (request.method !== 'GET') throw methodNotAllowed();
    return { status: 200, headers: json, body: parts.version };
  }
  if (trimmed === '/metrics') {
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
    return { status: 200, headers, body: parts.metricsText() };
  }
  if (isOtherVersion(parts, path)) throw notServed();
  return pageNotFound();
}

/** The core group and the versions of all groups refuse other methods; the lists of groups do not. */
const isReadOnly = (path: string): boolean => /^\/(api(\/|$)|apis\/[^/]+\/[^/])/.test(path);

const json = { 'content-type': 'application/json' };

const text = (status: number, body: string): ApiResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body,
});

const pageNotFound = (): ApiResponse => text(404, '404 page not found\n');

/** `/apis/apps/v9`: the group is known, so the answer is a Status and not a plain page. */
function isOtherVersion({ context }: DispatchParts, path: string): boolean {
  const [root, first, second] = path.split('/').filter((part) => part !== '');
  if (root === 'api') return first !== undefined;
  return root === 'apis' && second !== undefined && isServedGroup(context, first ?? '');
}

const isServedGroup = (context: ApiContext, group: string): boolean =>
  context.resources.all.some((r) => r.definition.group === group) ||
  [...reviewKinds, ...listedCollections, ...servedPartKinds].some((k) => k.group === group);

type AuthorizedRequest = {
  readonly request: VerbRequest;
  readonly rawUrl: RawUrl;
  readonly info: ResourceRequest;
  readonly user: User;
  readonly warn: (text: string) => void;
  readonly pace: Pace;
  readonly annotate: (key: string, value: string) => void;
};

function answerResource(
  parts: AllParts,
  allowed: AuthorizedRequest,
): Promise<ApiResponse> | ApiResponse {
  const { info } = allowed;
  const { context } = parts;
  const { group, version, resource: plural } = info;
  const stored = context.resources.find(group, version, plural);
  const resource = stored ?? parts.findEmpty(group, version, plural);
  if (resource === undefined) return answerVirtual(parts, allowed);
  const { definition } = resource;
  if (stored === undefined && !isRead(info.verb)) throw refusedWrite(definition, info);
  if (info.inNamespace && !definition.namespaced) throw notServed();
  if (definition.deprecationWarning !== undefined) allowed.warn(definition.deprecationWarning);
  if (info.subresource !== '') return answerSubresource(context, resource, allowed);
  return verbHandler(resource, allowed)({ context, resource, ...allowed });
}

/** Kinds that are not stored: those of parts, and those that can only be posted. */
function answerVirtual(
  parts: DispatchParts,
  allowed: AuthorizedRequest,
): Promise<ApiResponse> | ApiResponse {
  const { context } = parts;
  const { info } = allowed;
  if (isHistoryRequest(info)) return answerHistory({ context, request: allowed.request, info });
  const { group, version, resource: plural, namespace } = info;
  const ofPart = servedPartKinds.find(
    (k) => k.group === group && k.version === version && k.plural === plural,
  );
  if (ofPart !== undefined) return answerPart(ofPart, { context, ...allowed });
  const review = reviewKinds.find(
    (k) => k.group === group && k.version === version && k.plural === plural,
  );
  const isBinding = group === '' && version === 'v1' && plural === 'bindings';
  if (review === undefined && !isBinding) {
    if (group === '' || isServedGroup(context, group)) throw notServed();
    return pageNotFound();
  }
  const namespaced = review?.namespaced ?? true;
  const isCollection = info.pathName === '' && info.inNamespace === namespaced;
  // By the verb that was allowed: a POST to the old path of watches is a `watch`.
  if (info.verb !== 'create' || !isCollection) throw methodNotAllowed();
  if (review !== undefined) return answerReview(parts, review, { ...allowed, namespace });
  return bind({ context, resource: context.resources.of('pods'), ...allowed });
}

function answerPart(kind: PartKindServed, call: PartCall): Promise<ApiResponse> | ApiResponse {
  const { info, request } = call;
  const { subresource, verb } = info;
  const isKnown = subresource === '' || kind.subresources?.some(({ name }) => name === subresource);
  const isAcross = verb === 'list' && kind.namespaced && info.pathName === '';
  const isElsewhere = info.inNamespace !== kind.namespaced && !isAcross;
  if (isKnown !== true || info.rest !== '' || isElsewhere) throw notServed();
  const handler = handlerOf(kind.handlers, subresource === '' ? verb : `${subresource}/${verb}`);
  const isCollection = subresource === '' && (verb === 'create' || verb === 'list');
  const isWrongMethod = request.method === 'HEAD' || isCollection !== (info.pathName === '');
  if (handler === undefined || isWrongMethod) throw methodNotAllowed();
  return handler(call);
}

const objectVerbs: Readonly<Record<string, VerbHandler>> = {
  get,
  watch,
  update,
  patch,
  delete: remove,
};
const collectionVerbs: Readonly<Record<string, VerbHandler>> = {
  list,
  watch,
  create,
  deletecollection: removeCollection,
};

function verbHandler({ definition }: Resource, { info, request }: AuthorizedRequest): VerbHandler {
  const isCollection = info.pathName === '';
  const verbs: readonly string[] = definition.verbs ?? allVerbs;
  const handler = isCollection ? collectionVerbs[info.verb] : objectVerbs[info.verb];
  const acrossNamespaces = isCollection && definition.namespaced && info.namespace === '';
  const writes = info.verb === 'create' || info.verb === 'deletecollection';
  const isWrongMethod =
    request.method === 'HEAD' || (info.verb === 'watch' && request.method !== 'GET');
  if (handler === undefined || !verbs.includes(info.verb) || isWrongMethod)
    throw methodNotAllowed();
  if (acrossNamespaces && writes) throw methodNotAllowed();
  if (!isCollection && definition.namespaced && info.namespace === '') throw notServed();
  return handler;
}

function answerSubresource(
  context: ApiContext,
  resource: Resource,
  allowed: AuthorizedRequest,
): Promise<ApiResponse> | ApiResponse {
  const { info } = allowed;
  const definition: KindDefinition = resource.definition;
  const subresource = definition.subresources?.find((s) => s.name === info.subresource);
  if (subresource === undefined) throw notServed();
  if (info.rest !== '' && subresource.name !== 'proxy') throw notServed();
  const verbs: readonly string[] = subresource.verbs;
  const own = subresourceHandlers[subresource.name] ?? {};
  if (!verbs.includes(info.verb) && !Object.hasOwn(own, info.verb)) throw methodNotAllowed();
  if (allowed.request.method === 'HEAD' && subresource.name !== 'proxy') throw methodNotAllowed();
  const call: Call = { context, resource, subresource, ...allowed };
  return subresourceHandler(subresource, info)(call);
}

/** Own properties only: a verb may have the name of an inherited one. */
function handlerOf<Handler>(
  handlers: Readonly<Record<string, Handler>>,
  verb: string,
): Handler | undefined {
  return Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
}

function subresourceHandler(
  subresource: SubresourceDefinition<KubeObject>,
  info: ResourceRequest,
): VerbHandler {
  const special = handlerOf(subresourceHandlers[subresource.name] ?? {}, info.verb);
  const handler =
    special ?? (subresource.rules === undefined ? undefined : handlerOf(objectVerbs, info.verb));
  if (handler === undefined) throw notServed();
  return handler;
}
