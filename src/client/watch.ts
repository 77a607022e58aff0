// The stream of changes of a resource, as an async iterable of events.
import { ApiError, type Status } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
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
  /** Of a BOOKMARK only the resourceVersion and annotations mean something. */
  readonly object: T;
};

export type WatchOptions = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Events after this version; absent: the current state first, then what happens. */
  readonly resourceVersion?: string;
  /** The state first, ended by a bookmark that `endsInitialEvents` tells. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
  readonly signal: AbortSignal;
};

/**
 * Ends when the server or the signal ends the watch; bookmarks are always asked for, so that a quiet
 * connection is known to live. An ERROR event is thrown as the ApiError that it carries.
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
    // Whatever a cut connection says, the end was asked for.
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
    type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true'
  );
}
