// The stream of changes of a collection: what exists, what happened since a revision, and what happens from now on.
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

/** A watcher that leaves this much unread is too slow: it is told 410 and closed, and lists anew. */
const slowWatcherBytes = 16 * 1024 * 1024;
/** So much of the state waits for its reader at a time. */
const statePieceBytes = 1024 * 1024;
/** Changes kept for a watcher that has not read the state yet; they share their objects with the cache's own history. */
const maxHeld = 100_000;
/** What a timer can hold; a watch that is to live longer ends then. */
const maxTimerMs = 2 ** 31 - 1;
/** Bookmarks tell a quiet watcher how far it is. */
const bookmarkEveryMs = 60_000;
/** And once more so long before the end, so that the next watch starts close to the present. */
const lastBookmarkMs = 2000;
/** Without a wish a watch ends between half an hour and an hour, so that clients spread over servers. */
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
  /** Why the watch cannot start, told as its only event. */
  readonly failure: Status | undefined;
};

/** A streaming list waits for the revision it was asked for; a plain watch from the future just waits. */
async function waitForStart(call: Call, options: ListOptions): Promise<Status | undefined> {
  // What exists cannot be told where a part of it cannot be read.
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
  // From here to listen() nothing waits, so no change can fall between.
  const first = fromState ? stateOf(watcher) : missed;
  if (first === undefined) return;
  const replay = startReplay(watcher, first, { send, begin });
  const stopListening = resource.cache.listen(
    (change) => {
      if (change.revision <= after) return;
      if (replay.isUnderWay()) replay.hold(change);
      else send(change);
    },
    (unreadable) => endWith(watcher, gap(unreadable).status),
  );
  const timers = startTimers(watcher, () => {
    // What is held back is not told yet, so the watcher is not as far as the server.
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

const gap = (unreadable: string | undefined): ApiError =>
  unreadable === undefined
    ? expired('changes were compacted before this server saw them')
    : internal(unreadable);

function startTimers({ options, sink }: Watcher, tell: () => void): readonly NodeJS.Timeout[] {
  const endMs = lifetimeMs(options);
  const lastMs = endMs - lastBookmarkMs;
  const timers = [setTimeout(() => sink.end(), endMs)];
  if (options.allowBookmarks) timers.push(setInterval(tell, bookmarkEveryMs));
  if (options.allowBookmarks && lastMs > 0) timers.push(setTimeout(tell, lastMs));
  for (const timer of timers) timer.unref();
  return timers;
}

function endWith({ encoder, sink }: Watcher, status: Status): void {
  sink.write(encoder('ERROR', status));
  sink.end();
}

type Replay = {
  readonly isUnderWay: () => boolean;
  /** A change that comes meanwhile follows. */
  readonly hold: (change: Change) => void;
  readonly stop: () => void;
};

/**
 * What exists or was missed, as fast as it is read: a large state is never in memory twice. Others go first now and then,
 * because to look through all of it may take long, also where nothing of it is selected.
 */
function startReplay(watcher: Watcher, first: readonly Change[], { send, begin }: Sender): Replay {
  const { call, options, encoder, sink } = watcher;
  const revision = call.context.resources.revision();
  let changes = first;
  let held: Change[] | undefined = [];
  let at = 0;
  const finishFirst = (): void => {
    if (startsWithState(options) && options.allowBookmarks) {
      const end = bookmark(call.resource, revision, { [initialEventsEndAnnotation]: 'true' });
      sink.write(encoder('BOOKMARK', end));
    }
    begin();
  };
  /** Whether to go on now. */
  const mayGoOn = (): boolean => {
    if (sink.onDrain !== undefined && sink.buffered() > statePieceBytes) {
      sink.onDrain(sendSome);
      return false;
    }
    const due = at % stepObjects === stepObjects - 1 ? yieldWhenDue() : undefined;
    void due?.then(sendSome);
    return due === undefined;
  };
  /** All were sent: what was held back meanwhile is next. */
  const goOnWith = (waiting: readonly Change[]): void => {
    if (changes === first) finishFirst();
    [changes, at] = [waiting, 0];
    held = waiting.length === 0 ? undefined : [];
  };
  const sendSome = (): void => {
    while (held !== undefined) {
      if (at === changes.length) goOnWith(held);
      else if (mayGoOn()) send(changes[at++] as Change);
      else return;
    }
  };
  sendSome();
  return {
    isUnderWay: () => held !== undefined,
    hold(change) {
      held?.push(change);
      if (held === undefined || held.length <= maxHeld) return;
      held = undefined;
      const message = `too slow: more than ${maxHeld} changes came before the state was read`;
      endWith(watcher, expired(message).status);
    },
    stop() {
      held = undefined;
    },
  };
}

/** Undefined when a part of it cannot be read since the request was answered; the watcher was told. */
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
  /** What was sent so far came all at once, however much it was: only what follows can show a slow reader. */
  readonly begin: () => void;
};

/** Writes a change if the watcher sees it: enter and leave of a selection are ADDED and DELETED. */
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
    const seen = options.selectsAll ? change : selected(call.resource, options, change);
    if (seen === undefined) return;
    if (isTooSlow()) {
      const message = `too slow: more than ${slowWatcherBytes} bytes were not read in time`;
      endWith(watcher, expired(message).status);
      return;
    }
    sink.write(encoder(seen.type, view(seen.current)));
  };
  const begin = (): void => {
    allowance = sink.buffered() + slowWatcherBytes;
  };
  return { send, begin };
}

type Seen = { readonly type: ChangeType; readonly current: Cached };

function selected(resource: Resource, options: ListOptions, change: Change): Seen | undefined {
  const { current, previous, type } = change;
  const { view } = resource;
  const isIn = type !== 'DELETED' && options.selects(view(current).object);
  const wasIn = previous !== undefined && options.selects(view(previous).object);
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', current };
  if (!wasIn) return undefined;
  return {
    type: 'DELETED',
    current: type === 'DELETED' ? current : departed(resource, change, previous),
  };
}

const disconnects = new WeakMap<Change, Cached>();

/** An object that leaves a selection is shown as it was, under the revision at which it left. */
function departed({ codec }: Resource, change: Change, previous: Cached): Cached {
  let cached = disconnects.get(change);
  if (cached === undefined) {
    const { key, object } = previous;
    cached = codec.encode(key, codec.toValue(object), object, change.revision);
    disconnects.set(change, cached);
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
