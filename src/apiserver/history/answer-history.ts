// Answers requests for the history of objects: `?at=TIME` or `?revision=R` for the objects as they were, otherwise their changes, newest
// first, down to `?sinceTime=`.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import {
  badRequest,
  expired,
  methodNotAllowed,
  notFound,
  notServed,
} from '../../meta/api-error.ts';
import { matchesSelector, parseLabelSelector, type Selector } from '../../meta/labels.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../meta/object.ts';
import { formatMicroTime, parseTime } from '../../schema/time.ts';
import type { ApiContext } from '../context.ts';
import type { ApiResponse, QueryOption, VerbRequest } from '../message.ts';
import { parseInteger } from '../request/list-options.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import type { Moment } from './frames.ts';
import { historyGroup, historyVersion, keptResource, nameOfKept } from './kept-resources.ts';
import type { History } from './start-history.ts';
import { revisionAt, type Scope, type Step, walkHistory } from './walk-history.ts';

type HistoryCall = {
  readonly context: ApiContext;
  readonly request: VerbRequest;
  readonly info: ResourceRequest;
};

type Question = {
  readonly history: History;
  readonly scope: Scope;
  readonly selector: Selector;
  readonly limit: number;
  /** Where the page before ended: a revision, or a key. */
  readonly after: string;
  readonly nowMs: number;
};

const defaultLimit = 500;
const maxLimit = 2000;
/** Of one answer; at least one object is sent. */
const maxAnswerBytes = 8 * 1024 * 1024;
/** Clocks of clients may be a little ahead. */
const futureMs = 5_000;

export async function answerHistory(call: HistoryCall): Promise<ApiResponse> {
  const { context, request, info } = call;
  const kept = keptResource(info.resource);
  if (info.version !== historyVersion || kept === undefined || info.subresource !== '')
    throw notServed();
  if (info.inNamespace !== kept.namespaced && (info.inNamespace || info.pathName !== ''))
    throw notServed();
  if ((info.verb !== 'get' && info.verb !== 'list') || request.method !== 'GET')
    throw methodNotAllowed();
  const { history } = context;
  if (history === undefined) throw expired('history is not kept: --history-retention is 0');
  if (info.fieldSelector !== undefined) throw badRequest('fieldSelector is not supported here');
  const question: Question = {
    history,
    scope: scopeOf(context, info, nameOfKept(kept)),
    selector: selectorOf(info),
    limit: Math.min(integer(request, 'limit') || defaultLimit, maxLimit),
    after: request.query.get('continue') ?? '',
    nowMs: context.now(),
  };
  const revision = await requestedRevision(question, request);
  const answer =
    revision === undefined
      ? await changes(question, timeOption(request, 'sinceTime'))
      : await pastObjects(question, revision);
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: textOf({ ...answer, now: formatMicroTime(question.nowMs) }),
  };
}

type Answer = {
  readonly kind: string;
  readonly metadata: object;
  readonly since: object;
  /** As JSON, made one by one: all at once would keep other requests waiting. */
  readonly items: readonly string[];
};

/** All times of an answer are on the clock of `now`. */
function textOf({ items, ...rest }: Answer & { readonly now: string }): string {
  const head = JSON.stringify({ apiVersion: `${historyGroup}/${historyVersion}`, ...rest });
  return `${head.slice(0, -1)},"items":[${items.join(',')}]}`;
}

function scopeOf({ resources }: ApiContext, info: ResourceRequest, name: string): Scope {
  const resource = resources.of(name);
  const { codec } = resource;
  if (info.pathName !== '')
    return { name, resource, prefix: codec.key(info.namespace, info.pathName), isOne: true };
  const prefix = info.inNamespace ? codec.key(info.namespace, '') : codec.prefix;
  return { name, resource, prefix, isOne: false };
}

function selectorOf({ labelSelector = '' }: ResourceRequest): Selector {
  const parsed = parseLabelSelector(labelSelector);
  if ('error' in parsed) throw badRequest(parsed.error);
  return parsed.selector;
}

function integer({ query }: VerbRequest, name: QueryOption): number {
  const text = query.get(name) ?? '';
  const value = text === '' ? 0 : parseInteger(text);
  if (value < 0) throw badRequest(`${name} must not be negative`);
  return value;
}

function timeOption({ query }: VerbRequest, name: QueryOption): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const ms = parseTime(text);
  if (ms === undefined) throw badRequest(`${name}: "${text.slice(0, 50)}" is not an RFC 3339 time`);
  return ms;
}

/** Undefined where the request is for changes. */
async function requestedRevision(
  { history, nowMs }: Question,
  request: VerbRequest,
): Promise<number | undefined> {
  const timeMs = timeOption(request, 'at');
  if (timeMs !== undefined && timeMs > nowMs + futureMs)
    throw badRequest(`at: ${request.query.get('at')} is in the future`);
  const revision = integer(request, 'revision');
  if (timeMs === undefined) return revision === 0 ? undefined : revision;
  return (await revisionAt(history, timeMs)) ?? tooOld(history.state().since);
}

const momentOf = ({ revision, timeMs }: Moment) => ({
  resourceVersion: String(revision),
  time: formatMicroTime(timeMs),
});

function tooOld(since: Moment): never {
  throw expired(
    `history is kept since ${formatMicroTime(since.timeMs)}, resource version ${since.revision}`,
  );
}

const parse = (json: Buffer): KubeObject => JSON.parse(json.toString('utf8')) as KubeObject;

function withoutManagers({ metadata, ...rest }: KubeObject): KubeObject {
  const { managedFields: _managedFields, ...shown } = metadata;
  return { ...rest, metadata: shown } as KubeObject;
}

/** All objects of the scope as they were at the revision. */
async function pastObjects(question: Question, revision: number): Promise<Answer> {
  const { history, scope, selector, limit, after } = question;
  const walk = await walkHistory(history, scope, ({ record }) => record.revision > revision);
  if (walk.since.revision > revision) tooOld(walk.since);
  const found = new Map<string, Buffer | undefined>([...walk.live, ...walk.changed]);
  if (scope.isOne && found.get(scope.prefix) === undefined) {
    const { group, plural } = scope.resource.definition;
    throw notFound(
      { group, resource: plural },
      scope.prefix.slice(scope.prefix.lastIndexOf('/') + 1),
    );
  }
  const items: string[] = [];
  let bytes = 0;
  let last = '';
  for (const key of [...found.keys()].sort()) {
    const due = yieldWhenDue();
    if (due !== undefined) await due;
    const json = found.get(key);
    if (json === undefined || key <= after) continue;
    const object = parse(json);
    if (!matchesSelector(selector, object.metadata.labels)) continue;
    if (items.length >= limit || (items.length > 0 && bytes + json.length > maxAnswerBytes))
      return pastObjectList({ items, revision, since: walk.since, next: last });
    items.push(JSON.stringify(withoutManagers(object)));
    bytes += json.length;
    last = key;
  }
  return pastObjectList({ items, revision, since: walk.since });
}

type PastObjects = {
  readonly items: readonly string[];
  readonly revision: number;
  readonly since: Moment;
  readonly next?: string;
};

function pastObjectList({ items, revision, since, next }: PastObjects): Answer {
  const metadata = {
    resourceVersion: String(revision),
    ...(next === undefined ? {} : { continue: next }),
  };
  return { kind: 'PastObjectList', metadata, since: momentOf(since), items };
}

const typeNames = { ADDED: 'Created', MODIFIED: 'Updated', DELETED: 'Deleted' } as const;

async function changes(question: Question, sinceMs: number | undefined): Promise<Answer> {
  const { history, scope, selector, limit, after, nowMs } = question;
  const before = after === '' ? Number.POSITIVE_INFINITY : parseInteger(after);
  const items: string[] = [];
  const parseVersion = createVersionParser();
  let bytes = 0;
  let last = 0;
  let isCut = false;
  const visit = (step: Step): boolean => {
    const { revision, timeMs } = step.record;
    if (revision >= before) return true;
    if (timeMs < (sinceMs ?? 0) && timeMs <= nowMs) return false;
    const size = (step.after ?? step.before)?.length ?? 0;
    // Changes of one transaction are not separated.
    isCut =
      items.length > 0 &&
      revision !== last &&
      (items.length >= limit || bytes + size > maxAnswerBytes);
    if (isCut) return false;
    const item = itemOf(step, selector, parseVersion);
    if (item === undefined) return true;
    items.push(JSON.stringify(item));
    bytes += size;
    last = revision;
    return true;
  };
  const { since } = await walkHistory(history, scope, visit, sinceMs);
  const metadata = isCut ? { continue: String(last) } : {};
  return { kind: 'ChangeList', metadata, since: momentOf(since), items };
}

type VersionParser = (key: string, json: Buffer) => KubeObject;

/** The version before one change is the version after the change before it: each is parsed once. */
function createVersionParser(): VersionParser {
  const parsed = new Map<string, { readonly json: Buffer; readonly object: KubeObject }>();
  return (key, json) => {
    const known = parsed.get(key);
    if (known?.json === json) return known.object;
    const object = parse(json);
    parsed.set(key, { json, object });
    return object;
  };
}

/** Undefined where neither version is selected. */
function itemOf({ record, after, before }: Step, selector: Selector, parseOf: VersionParser) {
  const { key } = record;
  const is = after === undefined ? undefined : parseOf(key, after);
  const was = before === undefined ? undefined : parseOf(key, before);
  const isSelected = [was, is].some(
    (object) => object !== undefined && matchesSelector(selector, object.metadata.labels),
  );
  const object = is ?? was;
  if (!isSelected || object === undefined) return undefined;
  const manager =
    is && managerOf(was?.metadata.managedFields ?? [], is.metadata.managedFields ?? []);
  return {
    resourceVersion: String(record.revision),
    time: formatMicroTime(record.timeMs),
    type: typeNames[record.type],
    ...(record.user === '' ? {} : { user: record.user }),
    ...(manager === undefined ? {} : { manager }),
    /** After the change; as it was last, where it was deleted. */
    object: withoutManagers(object),
  };
}

/** The manager whose entry the change wrote. */
function managerOf(
  before: readonly ManagedFieldsEntry[],
  after: readonly ManagedFieldsEntry[],
): string | undefined {
  const known = new Set(before.map((entry) => JSON.stringify(entry)));
  const written = after.filter((entry) => !known.has(JSON.stringify(entry)));
  const newest = written.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0];
  return newest?.manager;
}
