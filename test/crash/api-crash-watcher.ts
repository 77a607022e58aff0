// A watcher that outlives the server: it goes on from the last version that it saw.
import assert from 'node:assert/strict';
import type { Service } from '../../src/kinds/service/types.ts';
import type { ApiClient, Watch, WatchEvent } from '../parts/harness/api-client.ts';
import { collection } from './api-crash-writers.ts';

type Seen = WatchEvent<Service>;

export type Watcher = {
  readonly follow: (api: ApiClient) => Promise<void>;
  /** Waits until the server has hung up, and keeps what came. */
  readonly pause: () => Promise<void>;
  /** Waits until the version has been seen. */
  readonly reach: (version: string) => Promise<void>;
  readonly events: () => readonly Seen[];
};

export function createWatcher(start: string): Watcher {
  const kept: Seen[] = [];
  let watch: Watch<Service> | undefined;
  const last = (): string => kept.at(-1)?.object.metadata.resourceVersion ?? start;
  const take = (): void => {
    kept.push(...(watch?.events ?? []));
    watch = undefined;
  };
  return {
    async follow(api) {
      watch = await api.watch(`${collection}?watch=1&resourceVersion=${last()}`);
    },
    async pause() {
      await watch?.ended;
      take();
    },
    async reach(version) {
      const isThere = ({ object }: Seen): boolean => object.metadata.resourceVersion === version;
      if (!kept.some(isThere)) await watch?.until((events) => events.some(isThere));
    },
    events: () => [...kept, ...(watch?.events ?? [])],
  };
}

export const line = ({ type, object }: Seen): string =>
  `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`;

/** No version twice or out of order, no object changed before it was added, and in the end what the list says. */
export function assertWhole(events: readonly Seen[], services: readonly Service[]): void {
  const live = new Map<string, string>();
  let before = 0;
  for (const event of events) {
    const { name = '', resourceVersion = '' } = event.object.metadata;
    assert.ok(Number(resourceVersion) > before, `${line(event)} came after ${before}`);
    before = Number(resourceVersion);
    assert.equal(live.has(name), event.type !== 'ADDED', `${line(event)} does not follow`);
    if (event.type === 'DELETED') live.delete(name);
    else live.set(name, resourceVersion);
  }
  const wanted = services
    .filter(({ metadata }) => metadata.name !== 'kubernetes')
    .map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? ''] as const);
  assert.deepEqual(
    [...live].sort(([a], [b]) => (a < b ? -1 : 1)),
    wanted.sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
