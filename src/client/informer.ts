// A live local copy of a resource: the current state, then every change, without a gap. After a failure the watch resumes from the
// last observed version; when the server has compacted that version (410), the state is read again.
import { setMaxListeners } from 'node:events';
import { type Clock, sleep } from '../host/clock.ts';
import { isApiError, isExpired } from '../meta/api-error.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import type { Log, LogFields } from '../observe/log.ts';
import type { ApiCaller } from './api-call.ts';
import { backOffMs } from './back-off.ts';
import {
  createLocalStore,
  type Indexes,
  type IndexFunction,
  type ObjectView,
} from './local-store.ts';
import type { ResourceType } from './resource.ts';
import { resourceClient } from './rest.ts';
import { endsInitialEvents, type WatchEvent, watchResource } from './watch.ts';

/** Called on every change, after the store is updated. Handlers must not throw and must not block. */
export type ChangeHandler<T> = {
  readonly add?: (object: T) => void;
  readonly update?: (before: T, after: T) => void;
  readonly delete?: (object: T) => void;
};

export type Informer<T extends KubeObject> = {
  readonly store: ObjectView<T>;
  /** Whether the store has held the complete state at least once. */
  readonly hasSynced: () => boolean;
  /** The newest version that the store is known to show; undefined before it has synced. */
  readonly version: () => string | undefined;
  /** Resolves when the informer has synced, or when it stops before that. */
  readonly synced: () => Promise<void>;
  /** Calls `add` for all objects already in the store. Returns a function that removes the handler. */
  readonly onChange: (handler: ChangeHandler<T>) => () => void;
  readonly addIndex: (name: string, index: IndexFunction<T>) => void;
  /** Resolves when the informer has stopped. */
  readonly ended: Promise<void>;
};

export type InformerOptions<T extends KubeObject> = {
  readonly caller: ApiCaller;
  readonly type: ResourceType<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
  /** Drops fields before objects are stored, to save memory. */
  readonly trim?: (object: T) => T;
  readonly indexes?: Indexes<T>;
  readonly clock: Clock;
  readonly log: Log;
  /** In [0, 1): jitter of retries and of watch timeouts. */
  readonly random?: () => number;
};

/** client-go's maximum; the first retries are faster, as most failures are short. */
const readBackOff = { firstMs: 100, maxMs: 30_000 };
/** The first warning comes after about two seconds; then at most one in ten minutes. */
const failuresToWarn = 5;
const failuresBetweenWarnings = 20;
/** Watches time out after five to ten minutes, as client-go's do, so that clients spread over servers. */
const minWatchSeconds = 300;

export function startInformer<T extends KubeObject>(
  options: InformerOptions<T>,
  signal: AbortSignal,
): Informer<T> {
  // All informers of a program share one signal: many listeners on it are no leak.
  setMaxListeners(0, signal);
  const copy = createCopy(options);
  const ended = follow(options, copy, signal).finally(() => copy.release());
  return {
    store: copy.store,
    hasSynced: copy.hasSynced,
    version: copy.version,
    synced: () => copy.synced,
    onChange: copy.onChange,
    addIndex: copy.store.addIndex,
    ended,
  };
}

type Copy<T extends KubeObject> = ReturnType<typeof createCopy<T>>;

/** The store and its change handlers. */
function createCopy<T extends KubeObject>({
  indexes,
  trim = (object) => object,
  log,
}: InformerOptions<T>) {
  const store = createLocalStore<T>(indexes);
  const handlers = new Set<ChangeHandler<T>>();
  let isSynced = false;
  let observed: string | undefined;
  let release = (): void => {};
  const synced = new Promise<void>((resolve) => {
    release = resolve;
  });
  const notify = (call: (handler: ChangeHandler<T>) => void): void => {
    for (const handler of handlers) guarded(log, () => call(handler));
  };
  const put = (object: T): void => {
    const before = store.set(object);
    if (before === undefined) notify((handler) => handler.add?.(object));
    else if (!isSame(before, object)) notify((handler) => handler.update?.(before, object));
  };
  const drop = (key: string): void => {
    const before = store.remove(key);
    if (before !== undefined) notify((handler) => handler.delete?.(before));
  };
  return {
    store,
    synced,
    release,
    trim,
    hasSynced: () => isSynced,
    version: () => observed,
    /** Everything up to this version is in the store. */
    reached(version: string): void {
      observed = version;
    },
    /** Replaces the contents with a complete, trimmed state; objects missing from it were deleted meanwhile. */
    replace(objects: readonly T[]): void {
      const present = new Set(objects.map(({ metadata }) => objectKey(metadata)));
      for (const key of [...store.keys()]) if (!present.has(key)) drop(key);
      for (const object of objects) put(object);
      isSynced = true;
      release();
    },
    change({ type, object }: WatchEvent<T>): void {
      if (type === 'DELETED') drop(objectKey(object.metadata));
      else if (type !== 'BOOKMARK') put(trim(object));
    },
    onChange(handler: ChangeHandler<T>): () => void {
      handlers.add(handler);
      for (const object of [...store.values()]) guarded(log, () => handler.add?.(object));
      return () => handlers.delete(handler);
    },
  };
}

/** The same version of the same object, as after a relist. */
function isSame(a: KubeObject, b: KubeObject): boolean {
  return (
    a.metadata.resourceVersion === b.metadata.resourceVersion && a.metadata.uid === b.metadata.uid
  );
}

/** A handler that throws must not stop the other handlers or the informer. */
function guarded(log: Log, call: () => void): void {
  try {
    call();
  } catch (error) {
    log.error('Change handler failed', {
      error: error instanceof Error ? (error.stack ?? error.message) : error,
    });
  }
}

/** The version to resume from; absent: the state must be read again. */
type Position = { version?: string; canStream: boolean; failures: number };

async function follow<T extends KubeObject>(
  options: InformerOptions<T>,
  copy: Copy<T>,
  signal: AbortSignal,
): Promise<void> {
  const position: Position = { canStream: true, failures: 0 };
  const { clock, log, type, random = Math.random } = options;
  while (!signal.aborted) {
    try {
      if (position.version === undefined && !position.canStream)
        await readState(options, copy, position, signal);
      await readChanges(options, copy, position, signal);
      position.failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (recover(error, position)) continue;
      // Alternate between streaming and paged lists: a state that is too large to stream can still be read in pages.
      if (position.version === undefined) position.canStream = !position.canStream;
      const waitMs = backOffMs(readBackOff, position.failures, random());
      position.failures += 1;
      reportFailure(log, position.failures, {
        resource: type.plural,
        waitMs: Math.round(waitMs),
        error: String(error),
      });
      await sleep(clock, waitMs, signal);
    }
  }
}

/** Logs at debug while a restart of the server may explain the failure, and warns when failures persist. */
function reportFailure(log: Log, failures: number, fields: LogFields): void {
  const level = failures % failuresBetweenWarnings === failuresToWarn ? 'warn' : 'debug';
  log[level]('Watch failed, retrying', fields);
}

/** Whether the failure can be recovered from without waiting. */
function recover(error: unknown, position: Position): boolean {
  if (position.version !== undefined && isExpired(error)) {
    delete position.version;
    return true;
  }
  // The server cannot stream lists, is too old to know the parameters, or found us too slow: use a paged list.
  if (
    position.version === undefined &&
    position.canStream &&
    (isRefusal(error) || isExpired(error))
  ) {
    position.canStream = false;
    return true;
  }
  return false;
}

function isRefusal(error: unknown): boolean {
  return isApiError(error) && [400, 405, 406, 422].includes(error.status.code);
}

async function readState<T extends KubeObject>(
  options: InformerOptions<T>,
  copy: Copy<T>,
  position: Position,
  signal: AbortSignal,
): Promise<void> {
  const { items, resourceVersion } = await resourceClient(options.caller, options.type).list({
    ...selection(options),
    signal,
  });
  copy.replace(items.map(copy.trim));
  position.version = resourceVersion;
  copy.reached(resourceVersion);
}

/** Watches from the last version; without one, the state is streamed first (WatchList). */
async function readChanges<T extends KubeObject>(
  options: InformerOptions<T>,
  copy: Copy<T>,
  position: Position,
  signal: AbortSignal,
): Promise<void> {
  const { random = Math.random } = options;
  const timeoutSeconds = Math.round(minWatchSeconds * (1 + random()));
  const start =
    position.version === undefined
      ? { sendInitialEvents: true }
      : { resourceVersion: position.version };
  let initial: Map<string, T> | undefined = position.version === undefined ? new Map() : undefined;
  const watch = watchResource(options.caller, options.type, {
    ...selection(options),
    ...start,
    timeoutSeconds,
    signal,
  });
  for await (const event of watch) {
    if (initial === undefined) {
      position.failures = 0;
      copy.change(event);
    } else if (endsInitialEvents(event)) {
      copy.replace([...initial.values()]);
      initial = undefined;
    } else {
      // Trimmed on arrival: the complete state untrimmed may need far more memory.
      collect(initial, event, copy.trim);
      continue;
    }
    const { resourceVersion } = event.object.metadata;
    if (resourceVersion === undefined) continue;
    position.version = resourceVersion;
    copy.reached(resourceVersion);
  }
  if (initial !== undefined && !signal.aborted) {
    throw new Error(
      `Cannot read the state of ${options.type.plural}: the stream ended before the initial events were complete`,
    );
  }
}

function collect<T extends KubeObject>(
  initial: Map<string, T>,
  { type, object }: WatchEvent<T>,
  trim: (object: T) => T,
): void {
  const key = objectKey(object.metadata);
  if (type === 'DELETED') initial.delete(key);
  else if (type !== 'BOOKMARK') initial.set(key, trim(object));
}

function selection<T extends KubeObject>(options: InformerOptions<T>) {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = options;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(metadataOnly === undefined ? {} : { metadataOnly }),
  };
}
