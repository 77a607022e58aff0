// A snapshot that follows the cluster: a live copy of each list that could be read, by the informers that all parts use. It outlives
// restarts of the server.
import type { ApiCaller } from '../client/api-call.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import type { Clock } from '../host/clock.ts';
import type { KubeObject } from '../meta/object.ts';
import type { Log } from '../observe/log.ts';
import { namesOf, scopesOf } from './read-snapshot.ts';
import {
  allSnapshotKinds,
  makeSnapshot,
  type Snapshot,
  type SnapshotKind,
  type SnapshotObjects,
} from './snapshot.ts';
import { trimObject } from './trim-object.ts';

export type WatchSnapshotOptions = {
  readonly caller: ApiCaller;
  /** What was read before: lists that were refused are not watched, and stay unread. */
  readonly first: Snapshot;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after every change, also of what was there before. */
  readonly onChange: () => void;
};

export type SnapshotWatch = {
  /** Resolves when all lists have been read again, or when the signal has aborted. */
  readonly synced: Promise<void>;
  /** The present state. */
  readonly take: () => Snapshot;
  readonly ended: Promise<void>;
};

type Followed = { readonly kind: SnapshotKind; readonly informer: Informer<KubeObject> };

export function watchSnapshot(options: WatchSnapshotOptions, signal: AbortSignal): SnapshotWatch {
  const { first, onChange } = options;
  const followed = allSnapshotKinds.flatMap((kind) => followKind(kind, options, signal));
  for (const { informer } of followed) {
    informer.onChange({ add: onChange, update: onChange, delete: onChange });
  }
  const all = (of: (informer: Informer<KubeObject>) => Promise<void>): Promise<void> =>
    Promise.all(followed.map(({ informer }) => of(informer))).then(() => undefined);
  return {
    synced: all((informer) => informer.synced()),
    ended: all((informer) => informer.ended),
    take: () =>
      makeSnapshot({
        objects: objectsOf(followed),
        unread: first.unread,
        ...(first.namespaces === undefined ? {} : { namespaces: first.namespaces }),
      }),
  };
}

function followKind(
  kind: SnapshotKind,
  { caller, first, clock, log }: WatchSnapshotOptions,
  signal: AbortSignal,
): readonly Followed[] {
  const isRefused = (namespace: string | undefined): boolean =>
    first.unread.some((one) => one.kind === kind && one.namespace === namespace);
  return scopesOf(kind, first.namespaces)
    .filter((namespace) => !isRefused(namespace))
    .map((namespace) => ({
      kind,
      informer: startInformer<KubeObject>(
        {
          ...{ caller, clock, log, type: namesOf(kind) },
          ...(namespace === undefined ? {} : { namespace }),
          ...(kind === 'events' ? { fieldSelector: 'type=Warning' } : {}),
          trim: (object) => trimObject(kind, object),
        },
        signal,
      ),
    }));
}

function objectsOf(followed: readonly Followed[]): Partial<SnapshotObjects> {
  return Object.fromEntries(
    allSnapshotKinds.map((kind) => [
      kind,
      followed
        .filter((one) => one.kind === kind)
        .flatMap(({ informer }) => [...informer.store.values()]),
    ]),
  );
}
