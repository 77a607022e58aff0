// Watches a resource: an async iterable of events.
import { ApiError, type Status } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { initialEventsEndAnnotation } from '../meta/well-known-annotations.ts';
import { type ApiCaller, openCall } from './api-call.ts';
import { readJsonLines } from './json-lines.ts';
import {
  queryText,
  type ResourceNames,
  type ResourceType,
  resourcePath,
  typedAs,
} from './resource.ts';
import { metadataAccept } from './rest.ts';

export type WatchEvent<T> = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** A BOOKMARK has only a resourceVersion and annotations. */
  readonly object: T;
};

export type WatchOptions = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Events after this version; absent: the current state first, then its changes. */
  readonly resourceVersion?: string;
  /** Streams the state first (WatchList), ended by a bookmark that `endsInitialEvents()` recognizes. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
  readonly signal: AbortSignal;
};

/**
 * Ends when the server or the signal ends the watch. Bookmarks are always requested, so that an idle watch can resume from a
 * recent version. An ERROR event is thrown as ApiError.
 */
export async function* watchResource<T extends KubeObject>(
  caller: ApiCaller,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  try {
    const { body } = await openCall(caller, {
      method: 'GET',
      path: watchPath(type, options),
      signal: options.signal,
      ...(options.metadataOnly === true ? { accept: metadataAccept } : {}),
    });
    for await (const line of readJsonLines(body)) {
      const event = line as { readonly type: string; readonly object: unknown };
      if (event.type === 'ERROR') throw new ApiError(event.object as Status);
      yield { type: event.type as WatchEvent<T>['type'], object: typedAs(type, event.object as T) };
    }
  } catch (error) {
    // After an abort the connection may fail in any way: that is the requested end.
    if (!options.signal.aborted) throw error;
  }
}

export function watchPath(type: ResourceNames, options: Omit<WatchOptions, 'signal'>): string {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  const query = queryText({
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
    ...(options.sendInitialEvents === true
      ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
      : {}),
  });
  return resourcePath(type, namespace === undefined ? {} : { namespace }) + query;
}

export function endsInitialEvents({ type, object }: WatchEvent<KubeObject>): boolean {
  return (
    type === 'BOOKMARK' && object.metadata.annotations?.[initialEventsEndAnnotation] === 'true'
  );
}
