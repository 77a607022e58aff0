// Mirrors the Endpoints of Services without a selector into EndpointSlices.

import { applyChanges } from '../../client/apply-changes.ts';
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import {
  createExpectations,
  type Expectations,
  type WriteRecorder,
} from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import type { Clock } from '../../host/clock.ts';
import { countChanges, type SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import { type EndpointSlice, mirrorManager } from '../../kinds/endpoint-slice/types.ts';
import { endpointsDefinition } from '../../kinds/endpoints/definition.ts';
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { isSelectorless } from '../../kinds/service/needs.ts';
import type { Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../../meta/well-known-labels.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { type DesiredMirror, desiredMirror, noMirror, shouldMirror } from './desired.ts';
import { diffMirror } from './diff.ts';
import { createMirrorMetrics, type MirrorMetrics } from './metrics.ts';

const maxRetries = 15;
const backOff = { firstMs: 1000, maxMs: 100_000 };
/** Changes by others are reverted after this delay, so that two programs do not write in turns without pause. */
const externalChangeMs = 1000;
/** Index of the mirrored slices, by their Endpoints. */
const mirrorIndex = 'endpoints of endpointslicemirroring-controller';

type Parts = {
  readonly client: ResourceClient<EndpointSlice>;
  readonly services: Informer<Service>;
  readonly endpoints: Informer<Endpoints>;
  readonly slices: Informer<EndpointSlice>;
  readonly recorder: EventRecorder;
  readonly metrics: MirrorMetrics;
  readonly maxPerSubset: number;
  readonly clock: Clock;
};

export const endpointSliceMirroringController: Controller = {
  name: 'endpointslice-mirroring-controller',
  shortName: 'endpointslicemirroring',
  account: 'endpointslicemirroring-controller',
  watches: mayWatch(serviceDefinition, endpointsDefinition, endpointSliceDefinition),
  rights: [
    may('create delete update', endpointSliceDefinition),
    mayOwn(endpointsDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const { clock, log, settings, queueMetrics: metrics } = shared;
    const parts = createParts(shared);
    const { services, endpoints, slices } = parts;
    if (!(await waitForSync([services, endpoints, slices], signal))) return;
    const writes = createExpectations<EndpointSlice>({
      clock,
      keyOf: mirroredKey,
      changedExternally: (key) => queue.addAfter(key, externalChangeMs),
    });
    const reconcile = async (key: string): Promise<undefined> => {
      await writes.during(key, (writeRecorder) => sync({ ...parts, writes, writeRecorder }, key));
    };
    const { mirroringConcurrentServiceEndpointSyncs: concurrency } = settings;
    const name = 'endpoint_slice_mirroring';
    const { queue, ended } = startReconciler(
      { name, reconcile, clock, log, metrics, concurrency, maxRetries, backOff },
      signal,
    );
    const add = ({ metadata }: Endpoints | Service): void => queue.add(objectKey(metadata));
    const addLater = ({ metadata }: Endpoints): void =>
      queue.addAfter(objectKey(metadata), settings.mirroringEndpointSliceUpdatesBatchMs);
    const stops = [
      endpoints.onChange({
        add: addLater,
        update: (_before, after) => addLater(after),
        delete: addLater,
      }),
      services.onChange({
        add: (service) => {
          if (endpoints.store.has(objectKey(service.metadata))) add(service);
        },
        update: (before, after) => {
          if (isSelectorless(before) !== isSelectorless(after)) add(after);
        },
        delete: add,
      }),
      slices.onChange(writes.handler),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts): Parts {
  const { caller, informers, clock, log, metrics, settings } = shared;
  const slices = informers.of(endpointSliceDefinition);
  slices.addIndex(mirrorIndex, mirroredKeys);
  const component = 'endpoint-slice-mirroring-controller';
  return {
    client: resourceClient(caller, endpointSliceDefinition),
    services: informers.of(serviceDefinition),
    endpoints: informers.of(endpointsDefinition),
    slices,
    recorder: createEventRecorder({ caller, component, clock, log }),
    metrics: createMirrorMetrics(metrics),
    maxPerSubset: settings.mirroringMaxEndpointsPerSubset,
    clock,
  };
}

const mirroredKeys = (slice: EndpointSlice): readonly string[] => {
  const key = mirroredKey(slice);
  return key === undefined ? [] : [key];
};

/** The Endpoints that a slice of this controller mirrors. */
function mirroredKey({ metadata }: EndpointSlice): string | undefined {
  const name = metadata.labels?.[serviceNameLabel];
  const isMirror = metadata.labels?.[sliceManagedByLabel] === mirrorManager;
  return isMirror && name ? `${metadata.namespace ?? ''}/${name}` : undefined;
}

type SyncParts = Parts & {
  readonly writes: Expectations<EndpointSlice>;
  readonly writeRecorder: WriteRecorder<EndpointSlice>;
};

async function sync(parts: SyncParts, key: string): Promise<void> {
  const { services, endpoints, slices, writes, metrics, maxPerSubset, clock } = parts;
  const startedAt = clock.now();
  const object = endpoints.store.get(key);
  const existing = writes
    .over(key, slices.store.select(mirrorIndex, key))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isMirrored = object !== undefined && shouldMirror(object, services.store.get(key));
  if (!isMirrored && existing.length === 0) return;
  const desired = isMirrored ? desiredMirror(object, maxPerSubset) : noMirror;
  if (isMirrored) recordSkipped(parts, object, desired);
  const changes = isMirrored
    ? diffMirror(object, desired, existing)
    : { create: [], update: [], delete: existing };
  await write(parts, changes);
  metrics.synced({
    key,
    changes,
    counts: countChanges(existing, changes, maxPerSubset),
    skipped: desired.invalid + desired.excess,
    tookMs: clock.now() - startedAt,
  });
}

async function write({ client, writeRecorder }: SyncParts, changes: SliceChanges): Promise<void> {
  try {
    await applyChanges(client, changes, { recorder: writeRecorder });
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error;
  }
}

function recordSkipped(
  { recorder, maxPerSubset }: Parts,
  endpoints: Endpoints,
  { invalid, excess }: DesiredMirror,
): void {
  if (invalid > 0) {
    recorder.record(endpoints, {
      type: 'Warning',
      reason: 'InvalidIPAddress',
      message: `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`,
    });
  }
  if (excess > 0) {
    recorder.record(endpoints, {
      type: 'Warning',
      reason: 'TooManyAddressesToMirror',
      message: `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${excess + invalid} addresses were skipped`,
    });
  }
}
