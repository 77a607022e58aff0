// The stream of changes of a collection: existing objects, changes since a revision, and changes from now on.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { type ApiError, expired, internal, isApiError, type Status } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { initialEventsEndAnnotation } from '../../meta/well-known-annotations.ts';
import { decode } from '../../schema/decode.ts';
import type { Cached, Change, ChangeType } from '../cache/resource-cache.ts';
import type { Resource } from '../cache/resources.ts';
import { negotiate, streamContentType } from '../encode/negotiate.ts';
import { createWatchEncoder, type WatchEncoder } from '../encode/watch.ts';
import { stepObjects } from '../limits/pace.ts';
import { type ApiResponse, header, type Sink } from '../message.ts';
import { typed } from '../request/decode-body.ts';
import { type ListOptions, parseListOptions } from '../request/list-options.ts';
import { isWebSocketRequest } from '../web-socket/handshake.ts';
import {
  jsonEventFramings,
  protobufEventFramings,
  sendOverWebSocket,
} from '../web-socket/send-stream.ts';
import { type Call, keyPrefix } from './call.ts';
import { waitForRevision } from './wait-for-revision.ts';

/** A watcher with this much unread is too slow: it gets 410, is closed, and lists anew. */
const slowWatcherBytes = 16 * 1024 * 1024;
/** Of the initial state, the next part is sent when less than this is unread. */
const maxUnreadStateBytes = 1024 * 1024;
/** Changes buffered for a watcher that has not read the initial state; they share their objects with the cache's history. */
const maxDeferred = 100_000;
/** The longest timer of Node.js; a watch with a longer timeout ends then. */
const maxTimerMs = 2 ** 31 - 1;
/** Bookmarks give an idle watcher a current resourceVersion. */
const bookmarkEveryMs = 60_000;
/** And once more so long before the end, so that the next watch starts close to the present. */
const lastBookmarkMs = 2000;
/** Without a requested timeout a watch ends between half an hour and an hour, so that clients spread over servers. */
const minWatchSeconds = 1800;

export async function watch(call: Call): Promise<ApiResponse> {
  const { context, request, resource, info } = call;
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'watch' });
  const { definition } = resource;
  const options = parseListOptions(info, request.query, { definition, watch: true });
  const encoder = createWatchEncoder(representation, definition, context.now);
  const failure = await waitForStart(call, options);
  const body = {
    start: (sink: Sink) => startWatcher({ call, options, encoder, sink, failure }),
  };
  if (isWebSocketRequest(request)) {
    const isProtobuf = representation.format === 'protobuf';
    return sendOverWebSocket(request, body, isProtobuf ? protobufEventFramings : jsonEventFramings);
  }
  return { status: 200, headers: { 'content-type': streamContentType(representation) }, body };
}

type Watcher = {
  readonly call: Call;
  readonly options: ListOptions;
  readonly encoder: WatchEncoder;
  readonly sink: Sink;
  /** Why the watch cannot start; sent as its only event. */
  readonly failure: Status | undefined;
};

/** A streaming list waits for the requested revision; a plain watch from a future revision just waits. */
async function waitForStart(call: Call, options: ListOptions): Promise<Status | undefined> {
  // The initial state cannot be sent when an object of it cannot be read.
  if (startsWithState(options)) call.resource.cache.list(keyPrefix(call));
  if (options.sendInitialEvents !== true) return undefined;
  try {
    await waitForRevision(call, options.resourceVersion);
    return undefined;
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
}

const startsWithState = ({ sendInitialEvents, resourceVersion = 0 }: ListOptions): boolean =>
  sendInitialEvents ?? resourceVersion === 0;

function startWatcher(watcher: Watcher): void {
  const { call, options, encoder, sink, failure } = watcher;
  const { resource, context } = call;
  if (failure !== undefined) {
    endWith(watcher, failure);
    return;
  }
  const { send, begin } = createSender(watcher);
  const start = options.resourceVersion ?? 0;
  const fromState = startsWithState(options);
  const after = fromState || start === 0 ? context.resources.revision() : start;
  const missed = resource.cache.changesAfter(after);
  if (missed === undefined) {
    const message = `too old resource version: ${start} (${context.resources.revision()})`;
    endWith(watcher, expired(message).status);
    return;
  }
  // Synchronous up to subscribe(), so that no change is missed.
  const first = fromState ? stateOf(watcher) : missed;
  if (first === undefined) return;
  const replay = startReplay(watcher, first, { send, begin });
  const stopListening = resource.cache.subscribe(
    (change) => {
      if (change.revision <= after) return;
      if (replay.isUnderWay()) replay.defer(change);
      else send(change);
    },
    (unreadable) => endWith(watcher, gapError(unreadable).status),
  );
  const timers = startTimers(watcher, () => {
    // Deferred changes are not sent yet, so the watcher is behind the server.
    if (replay.isUnderWay()) return;
    const reached = Math.max(after, context.resources.revision());
    sink.write(encoder('BOOKMARK', bookmark(resource, reached)));
  });
  sink.onClose(() => {
    stopListening();
    replay.stop();
    for (const timer of timers) clearTimeout(timer);
  });
}

const gapError = (unreadable: string | undefined): ApiError =>
  unreadable === undefined
    ? expired('changes were compacted before this server saw them')
    : internal(unreadable);

function startTimers(
  { options, sink }: Watcher,
  sendBookmark: () => void,
): readonly NodeJS.Timeout[] {
  const endMs = lifetimeMs(options);
  const lastMs = endMs - lastBookmarkMs;
  const timers = [setTimeout(() => sink.end(), endMs)];
  if (options.allowBookmarks) timers.push(setInterval(sendBookmark, bookmarkEveryMs));
  if (options.allowBookmarks && lastMs > 0) timers.push(setTimeout(sendBookmark, lastMs));
  for (const timer of timers) timer.unref();
  return timers;
}

function endWith({ encoder, sink }: Watcher, status: Status): void {
  sink.write(encoder('ERROR', status));
  sink.end();
}

type Replay = {
  readonly isUnderWay: () => boolean;
  /** A change that arrives meanwhile is sent afterwards. */
  readonly defer: (change: Change) => void;
  readonly stop: () => void;
};

/**
 * Sends existing objects or missed changes as fast as the client reads: a large state is never in memory twice. It yields
 * now and then, because filtering all of it may take long, also where nothing is selected.
 */
function startReplay(watcher: Watcher, first: readonly Change[], { send, begin }: Sender): Replay {
  const { call, options, encoder, sink } = watcher;
  const revision = call.context.resources.revision();
  let changes = first;
  let deferred: Change[] | undefined = [];
  let at = 0;
  const finishFirst = (): void => {
    if (startsWithState(options) && options.allowBookmarks) {
      const end = bookmark(call.resource, revision, { [initialEventsEndAnnotation]: 'true' });
      sink.write(encoder('BOOKMARK', end));
    }
    begin();
  };
  /** Whether to continue now. */
  const mayContinue = (): boolean => {
    if (sink.onDrain !== undefined && sink.buffered() > maxUnreadStateBytes) {
      sink.onDrain(sendSome);
      return false;
    }
    const due = at % stepObjects === stepObjects - 1 ? yieldWhenDue() : undefined;
    void due?.then(sendSome);
    return due === undefined;
  };
  /** All were sent: the deferred changes are next. */
  const continueWith = (waiting: readonly Change[]): void => {
    if (changes === first) finishFirst();
    [changes, at] = [waiting, 0];
    deferred = waiting.length === 0 ? undefined : [];
  };
  const sendSome = (): void => {
    while (deferred !== undefined) {
      if (at === changes.length) continueWith(deferred);
      else if (mayContinue()) send(changes[at++] as Change);
      else return;
    }
  };
  sendSome();
  return {
    isUnderWay: () => deferred !== undefined,
    defer(change) {
      deferred?.push(change);
      if (deferred === undefined || deferred.length <= maxDeferred) return;
      deferred = undefined;
      const message = `too slow: more than ${maxDeferred} changes came before the state was read`;
      endWith(watcher, expired(message).status);
    },
    stop() {
      deferred = undefined;
    },
  };
}

/** Undefined when an object became unreadable since the request was answered; the watch has ended with an error. */
function stateOf(watcher: Watcher): readonly Change[] | undefined {
  const { call } = watcher;
  try {
    const entries = call.resource.cache.list(keyPrefix(call));
    return entries.map((current) => ({ type: 'ADDED', revision: current.revision, current }));
  } catch (error) {
    if (!isApiError(error)) throw error;
    endWith(watcher, error.status);
    return undefined;
  }
}

type Sender = {
  readonly send: (change: Change) => void;
  /** The allowance starts after the initial state: what of it is still unread does not count. */
  readonly begin: () => void;
};

/** Sends a change if it is visible: objects that enter or leave a selection are ADDED or DELETED. */
function createSender(watcher: Watcher): Sender {
  const { call, options, encoder, sink } = watcher;
  const { view } = call.resource;
  const prefix = keyPrefix(call);
  const isInScope = ({ current }: Change): boolean => current.key.startsWith(prefix);
  let allowance = Number.POSITIVE_INFINITY;
  const isTooSlow = (): boolean => {
    const unread = sink.buffered();
    if (unread <= slowWatcherBytes && allowance !== Number.POSITIVE_INFINITY)
      allowance = slowWatcherBytes;
    return unread > allowance;
  };
  const send = (change: Change): void => {
    if (!isInScope(change)) return;
    const visible = options.selectsAll ? change : selected(call.resource, options, change);
    if (visible === undefined) return;
    if (isTooSlow()) {
      const message = `too slow: more than ${slowWatcherBytes} bytes were not read in time`;
      endWith(watcher, expired(message).status);
      return;
    }
    sink.write(encoder(visible.type, view(visible.current)));
  };
  const begin = (): void => {
    allowance = sink.buffered() + slowWatcherBytes;
  };
  return { send, begin };
}

type VisibleChange = { readonly type: ChangeType; readonly current: Cached };

function selected(
  resource: Resource,
  options: ListOptions,
  change: Change,
): VisibleChange | undefined {
  const { current, previous, type } = change;
  const { view } = resource;
  const isIn = type !== 'DELETED' && options.selects(view(current).object);
  const wasIn = previous !== undefined && options.selects(view(previous).object);
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', current };
  if (!wasIn) return undefined;
  return {
    type: 'DELETED',
    current: type === 'DELETED' ? current : leavingObject(resource, change, previous),
  };
}

const leavingObjects = new WeakMap<Change, Cached>();

/** An object that leaves a selection is sent in its previous state, at the revision at which it left. */
function leavingObject({ codec }: Resource, change: Change, previous: Cached): Cached {
  let cached = leavingObjects.get(change);
  if (cached === undefined) {
    const { key, object } = previous;
    cached = codec.encode(key, codec.toValue(object), object, change.revision);
    leavingObjects.set(change, cached);
  }
  return cached;
}

/** An empty object of the kind, with nothing but a version. */
function bookmark(
  { definition }: Resource,
  revision: number,
  annotations?: Readonly<Record<string, string>>,
): KubeObject {
  const metadata = {
    resourceVersion: String(revision),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return typed(decode(definition.schema, { metadata }).object as KubeObject, definition);
}

function lifetimeMs({ timeoutSeconds }: ListOptions): number {
  const seconds = timeoutSeconds || minWatchSeconds * (1 + Math.random());
  return Math.min(Math.max(0, seconds) * 1000, maxTimerMs);
}
