// One informer per resource, shared by all its users in a program, as client-go's SharedInformerFactory.
import type { Clock } from '../host/clock.ts';
import type { KubeObject } from '../meta/object.ts';
import type { Log } from '../observe/log.ts';
import type { ApiCaller } from './api-call.ts';
import { type Informer, startInformer } from './informer.ts';
import type { ResourceType } from './resource.ts';

export type Selection = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
};

export type SharedInformers = {
  /**
   * The informer of the resource, or of a selection of it; started on first use. Its objects have no managedFields.
   */
  readonly of: <T extends KubeObject>(type: ResourceType<T>, selection?: Selection) => Informer<T>;
  /** Resolves when all informers have stopped. */
  readonly ended: () => Promise<void>;
};

export type SharedInformersOptions = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
};

/** Most of a small object is managedFields, which controllers never read; a write that omits them preserves them. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}

export function createSharedInformers(
  options: SharedInformersOptions,
  signal: AbortSignal,
): SharedInformers {
  const informers = new Map<string, unknown>();
  const ends: Promise<void>[] = [];
  return {
    of<T extends KubeObject>(type: ResourceType<T>, selection: Selection = {}): Informer<T> {
      const { namespace = '', labelSelector = '', fieldSelector = '' } = selection;
      const key = [
        type.group,
        type.version,
        type.plural,
        namespace,
        labelSelector,
        fieldSelector,
      ].join(' ');
      const known = informers.get(key) as Informer<T> | undefined;
      if (known !== undefined) return known;
      const informer = startInformer(
        { ...options, ...selection, type, trim: withoutManagedFields },
        signal,
      );
      informers.set(key, informer);
      ends.push(informer.ended);
      return informer;
    },
    async ended() {
      await Promise.all(ends);
    },
  };
}

/** Waits until all informers have synced; false when the signal was aborted first. */
export async function waitForSync(
  informers: readonly Pick<Informer<KubeObject>, 'synced' | 'hasSynced'>[],
  signal: AbortSignal,
): Promise<boolean> {
  await Promise.all(informers.map(({ synced }) => synced()));
  return !signal.aborted && informers.every(({ hasSynced }) => hasSynced());
}
