// Notifies families of changes in the informers.
import type { Node } from '../kinds/node/types.ts';
import { objectKey } from '../meta/object.ts';
import type { TrimmedSlice } from './model/trim-objects.ts';
import type { FamilyRun } from './run-family.ts';
import type { ProxyInformers } from './run-informers.ts';

type FamilyListener = Omit<FamilyRun, 'ended'>;

/**
 * Returns a function that stops it. Call it after the informers have synced and the families have read everything: the initial add
 * events of a listener are ignored.
 */
export function followChanges(
  informers: Pick<ProxyInformers, 'services' | 'slices' | 'nodes' | 'allNodes' | 'ranges'>,
  families: readonly FamilyListener[],
  startedAt: number,
): () => void {
  let isReplay = true;
  const notify = (call: (family: FamilyListener) => void): void => {
    if (!isReplay) for (const family of families) call(family);
  };
  const service = (key: string): void => notify((family) => family.serviceChanged(key));
  const slice = (after: TrimmedSlice, before?: TrimmedSlice): void => {
    const at = triggerTime(after, before, startedAt);
    for (const key of new Set([before?.serviceKey, after.serviceKey])) {
      if (key !== undefined) notify((family) => family.endpointsChanged(key, at));
    }
    const addresses =
      before === undefined ? after.addresses : [...before.addresses, ...after.addresses];
    notify((family) => family.addressesChanged(addresses));
  };
  const node = (): void => notify((family) => family.nodeChanged());
  const stops = [
    informers.services.onChange({
      add: ({ metadata }) => service(objectKey(metadata)),
      update: (_, { metadata }) => service(objectKey(metadata)),
      delete: ({ metadata }) => service(objectKey(metadata)),
    }),
    informers.slices.onChange({
      add: (after) => slice(after),
      update: (before, after) => slice(after, before),
      delete: (before) => slice(before, before),
    }),
    informers.nodes.onChange({ add: node, update: node, delete: node }),
    informers.allNodes.onChange({
      add: node,
      update: (before, after) => isSameNode(before, after) || node(),
      delete: node,
    }),
    informers.ranges.onChange({ add: node, update: node, delete: node }),
  ];
  isReplay = false;
  return () => {
    for (const stop of stops) stop();
  };
}

/** Heartbeats of nodes change nothing that is compared here. */
function isSameNode(before: Node, after: Node): boolean {
  return (
    JSON.stringify([before.spec, before.status]) === JSON.stringify([after.spec, after.status])
  );
}

/** A trigger time counts once, and not if it is older than this proxy (KPX-56). */
function triggerTime(
  after: TrimmedSlice,
  before: TrimmedSlice | undefined,
  startedAt: number,
): number | undefined {
  const text = after.triggerTime;
  if (text === undefined || text === before?.triggerTime) return undefined;
  const time = Date.parse(text);
  return time >= startedAt ? time : undefined;
}
