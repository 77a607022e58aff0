// Keeps the EndpointSlices of every Service with a selector.

import { createEventRecorder } from '../../client/event-recorder.ts';
import { createExpectations } from '../../client/expectations.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import type { Cancel } from '../../host/clock.ts';
import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { podLabelIndex, podLabels } from '../../kinds/pod/label-index.ts';
import { podNode, podNodeIndex } from '../../kinds/pod/node-index.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { followPods } from '../../kinds/service/follow-pods.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { followNodes } from './follow-nodes.ts';
import { createSliceMetrics } from './metrics.ts';
import {
  managedSlice,
  managedSliceIndex,
  type SyncParts,
  serviceKeyOf,
  syncService,
} from './run-sync.ts';
import { isOverloaded, type ZoneShares, zoneShares } from './zone-shares.ts';

const maxRetries = 15;
const backOff = { firstMs: 1000, maxMs: 1_000_000 };
/** Changes by others are reverted after this delay, so that two programs do not write in turns without pause. */
const externalChangeMs = 1000;
/** Nodes of a starting cluster arrive together; zones are recomputed once after this. */
const nodeBatchMs = 100;

export const endpointSliceController: Controller = {
  name: 'endpointslice-controller',
  shortName: 'endpointslice',
  account: 'endpointslice-controller',
  watches: mayWatch(nodeDefinition, podDefinition, serviceDefinition, endpointSliceDefinition),
  rights: [
    may('create delete update', endpointSliceDefinition),
    mayOwn(serviceDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const { clock, log, settings, queueMetrics: metrics } = shared;
    const shares = createShareCache();
    const parts = { ...createParts(shared), zones: () => shares.get(parts.nodes.store.values()) };
    const { services, pods, nodes, slices } = parts;
    if (!(await waitForSync([services, pods, nodes, slices], signal))) return;
    let isStarting = true;
    const later = (ms: number) => (key: string) => {
      if (!isStarting) queue.addAfter(key, ms);
    };
    const writes = createExpectations<EndpointSlice>({
      clock,
      keyOf: serviceKeyOf,
      changedExternally: later(externalChangeMs),
    });
    const reconcile = async (key: string): Promise<undefined> => {
      await writes.during(key, (writeRecorder) =>
        syncService(parts, { writes, writeRecorder }, key),
      );
    };
    const { concurrentServiceEndpointSyncs: concurrency } = settings;
    const { queue, ended } = startReconciler(
      { name: 'endpoint_slice', reconcile, clock, log, metrics, concurrency, maxRetries, backOff },
      signal,
    );
    const podsChanged = later(settings.endpointSliceUpdatesBatchMs);
    const follow = followPods({ serviceChanged: (key) => queue.add(key), podsChanged });
    let recheck: Cancel | undefined;
    const nodeHandler = followNodes({
      zoneChanged: ({ metadata }) => {
        const podsOnNode = pods.store.select(podNodeIndex, metadata.name ?? '');
        for (const key of new Set(podsOnNode.flatMap(follow.keysOf))) podsChanged(key);
      },
      capacityChanged: () => {
        shares.forget();
        recheck ??= clock.after(nodeBatchMs, () => {
          recheck = undefined;
          for (const key of overloaded(parts)) queue.add(key);
        });
      },
    });
    // Existing objects are reported as added. It is enough that every Service gets into the queue.
    const stops = [
      services.onChange(follow.services),
      slices.onChange(writes.handler),
      pods.onChange(follow.pods),
      nodes.onChange(nodeHandler),
    ];
    isStarting = false;
    await ended;
    for (const stop of [...stops, () => recheck?.()]) stop();
  },
};

function createParts({
  caller,
  informers,
  clock,
  log,
  metrics,
  settings,
}: ControllerParts): Omit<SyncParts, 'zones'> {
  const pods = informers.of(podDefinition);
  pods.addIndex(podLabelIndex, podLabels);
  pods.addIndex(podNodeIndex, podNode);
  const slices = informers.of(endpointSliceDefinition);
  slices.addIndex(managedSliceIndex, managedSlice);
  return {
    client: resourceClient(caller, endpointSliceDefinition),
    services: informers.of(serviceDefinition),
    pods,
    nodes: informers.of(nodeDefinition),
    slices,
    recorder: createEventRecorder({ caller, component: 'endpoint-slice-controller', clock, log }),
    metrics: createSliceMetrics(metrics),
    maxPerSlice: settings.maxEndpointsPerSlice,
    triggerTimes: new Map(),
    spread: new Map(),
  };
}

/** Shares are computed once between changes of nodes, not for every Service. */
function createShareCache() {
  let known: { readonly shares: ZoneShares | undefined } | undefined;
  return {
    get(nodes: Parameters<typeof zoneShares>[0]): ZoneShares | undefined {
      known ??= { shares: zoneShares(nodes) };
      return known.shares;
    },
    forget: (): void => {
      known = undefined;
    },
  };
}

function overloaded({ spread, zones }: SyncParts): readonly string[] {
  const shares = zones();
  return [...spread].flatMap(([key, families]) =>
    [...families.values()].some((byZone) => isOverloaded(byZone, shares)) ? [key] : [],
  );
}
