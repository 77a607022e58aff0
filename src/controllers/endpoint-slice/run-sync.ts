// Syncs one Service: reads its state from the informers, plans, writes its slices.
import { applyChanges } from '../../client/apply-changes.ts';
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { Expectations, WriteRecorder } from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { NotYetError } from '../../client/reconcile.ts';
import type { ResourceClient } from '../../client/rest.ts';
import { countChanges, type SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import { type EndpointSlice, sliceManager } from '../../kinds/endpoint-slice/types.ts';
import { type TriggerState, triggerTime } from '../../kinds/endpoints/trigger-time.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import type { Node } from '../../kinds/node/types.ts';
import { selectPods } from '../../kinds/pod/label-index.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { hasSelectedPods } from '../../kinds/service/backends.ts';
import type { Service } from '../../kinds/service/types.ts';
import { isConflict } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../../meta/well-known-labels.ts';
import { diffSlices } from './diff.ts';
import type { SliceMetrics } from './metrics.ts';
import { type SpreadHints, wantsSpread } from './topology-hints.ts';
import type { ZoneShares } from './zone-shares.ts';

/** Index of the slices that this controller manages, by Service. */
export const managedSliceIndex = 'service of endpointslice-controller';

export function managedSlice(slice: EndpointSlice): readonly string[] {
  const key = serviceKeyOf(slice);
  return key === undefined ? [] : [key];
}

/** The Service of a slice that this controller manages. */
export function serviceKeyOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata.labels?.[serviceNameLabel];
  const isManaged = metadata.labels?.[sliceManagedByLabel] === sliceManager;
  return isManaged && name ? `${metadata.namespace ?? ''}/${name}` : undefined;
}

export type SyncParts = {
  readonly client: ResourceClient<EndpointSlice>;
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly slices: Informer<EndpointSlice>;
  readonly recorder: EventRecorder;
  readonly metrics: SliceMetrics;
  readonly maxPerSlice: number;
  readonly zones: () => ZoneShares | undefined;
  readonly triggerTimes: Map<string, TriggerState>;
  /** Services with topology-mode Auto. */
  readonly spread: Map<string, SpreadHints>;
};

export type SyncState = {
  readonly writes: Expectations<EndpointSlice>;
  readonly writeRecorder: WriteRecorder<EndpointSlice>;
};

export async function syncService(
  parts: SyncParts,
  { writes, writeRecorder }: SyncState,
  key: string,
): Promise<void> {
  const { services, pods, nodes, slices, zones, triggerTimes, spread, maxPerSlice } = parts;
  const service = services.store.get(key);
  if (service === undefined) {
    // The garbage collector deletes its slices.
    for (const memory of [triggerTimes, spread]) memory.delete(key);
    writes.forget(key);
    parts.metrics.forget(key);
    return;
  }
  if (!hasSelectedPods(service)) return;
  const { namespace = '' } = service.metadata;
  const selected = selectPods(pods.store, namespace, service.spec.selector ?? {});
  const trigger = triggerTime(triggerTimes.get(key), service, selected);
  triggerTimes.set(key, trigger.state);
  const existing = writes.over(key, slices.store.select(managedSliceIndex, key));
  const wanted = diffSlices({
    service,
    pods: selected,
    node: nodes.store.get,
    zones: zones(),
    existing,
    spreadBefore: spread.get(key) ?? new Map(),
    maxPerSlice,
    triggerTime: trigger.text,
  });
  if (wanted.spread.size > 0) spread.set(key, wanted.spread);
  else spread.delete(key);
  try {
    await write(parts, wanted, writeRecorder);
    parts.metrics.synced({
      key,
      service,
      changes: wanted,
      counts: countChanges(existing, wanted, maxPerSlice),
      isSpread: wantsSpread(service),
      isWhole: wanted.podsWithoutNode.length === 0,
    });
    reportPodsWithoutNode(service, wanted.podsWithoutNode);
  } catch (error) {
    parts.metrics.failed();
    recordFailure(parts, service, error);
    throw error;
  } finally {
    for (const event of wanted.events) parts.recorder.record(service, event);
  }
}

async function write(
  { client }: SyncParts,
  changes: SliceChanges,
  recorder: WriteRecorder<EndpointSlice>,
): Promise<void> {
  try {
    await applyChanges(client, changes, { recorder });
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error;
  }
}

/** Throws, so that the Service is synced again: the node may appear, or its pods may be deleted. */
function reportPodsWithoutNode(service: Service, podsWithoutNode: readonly Pod[]): void {
  if (podsWithoutNode.length === 0) return;
  const key = objectKey(service.metadata);
  const texts = podsWithoutNode.map(
    ({ metadata, spec }) =>
      `skipping Pod ${metadata.name} for Service ${key}: Node ${spec.nodeName ?? ''} Not Found`,
  );
  throw new NotYetError(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
}

/** Conflicts are retried; anything else becomes an event. */
function recordFailure({ recorder }: SyncParts, service: Service, error: unknown): void {
  if (isConflict(error)) return;
  const text = error instanceof Error ? error.message : String(error);
  recorder.record(service, {
    type: 'Warning',
    reason: 'FailedToUpdateEndpointSlices',
    message: `Error updating Endpoint Slices for Service ${objectKey(service.metadata)}: ${text}`,
  });
}
