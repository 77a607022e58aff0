// Keeps one Endpoints object for every Service with a selector.

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
import { endpointsDefinition } from '../../kinds/endpoints/definition.ts';
import { type SeenTimes, triggerTime } from '../../kinds/endpoints/trigger-time.ts';
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { podLabelIndex, podLabels, selectPods } from '../../kinds/pod/label-index.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { hasSelectedPods } from '../../kinds/service/backends.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { followPods } from '../../kinds/service/follow-pods.ts';
import type { Service } from '../../kinds/service/types.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { desiredEndpoints } from './desired.ts';
import { diffEndpoints, type EndpointsChange } from './diff.ts';
import { isOrphanToSweep } from './orphans.ts';

const maxRetries = 15;
/** What others change is put right, but not in step with a program that keeps changing it back. */
const foreignChangeMs = 1000;

type Parts = {
  readonly client: ResourceClient<Endpoints>;
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly endpoints: Informer<Endpoints>;
  readonly recorder: EventRecorder;
  readonly seen: Map<string, SeenTimes>;
};

export const endpointsController: Controller = {
  name: 'endpoints-controller',
  shortName: 'endpoint',
  account: 'endpoint-controller',
  watches: mayWatch(podDefinition, serviceDefinition, endpointsDefinition),
  rights: [may('create delete update', endpointsDefinition), mayRecordEvents],
  async run(given, signal) {
    const { clock, log, settings, queueMetrics: metrics } = given;
    const parts = gather(given);
    const { services, pods, endpoints } = parts;
    if (!(await waitForSync([services, pods, endpoints], signal))) return;
    let isStarting = true;
    const writes = createExpectations<Endpoints>({
      clock,
      keyOf: ({ metadata }) => objectKey(metadata),
      changedExternally: (key) => {
        // Without a service they are somebody's own, to be left alone.
        const service = services.store.get(key);
        if (isStarting || service === undefined || !hasSelectedPods(service)) return;
        queue.addAfter(key, foreignChangeMs);
      },
    });
    const reconcile = async (key: string): Promise<undefined> => {
      await writes.during(key, (notes) => sync({ ...parts, writes, notes }, key));
    };
    const { concurrentEndpointSyncs: concurrency, endpointUpdatesBatchMs } = settings;
    const { queue, ended } = startReconciler(
      { name: 'endpoint', reconcile, clock, log, metrics, concurrency, maxRetries },
      signal,
    );
    const follow = followPods({
      serviceChanged: (key) => queue.add(key),
      podsChanged: (key) => {
        if (!isStarting) queue.addAfter(key, endpointUpdatesBatchMs);
      },
    });
    // What is there already is told as added. It is enough that every service gets into the queue.
    const stops = [
      services.onChange(follow.services),
      endpoints.onChange(writes.handler),
      pods.onChange(follow.pods),
    ];
    isStarting = false;
    for (const left of endpoints.store.values()) {
      if (isOrphanToSweep(left, services.store)) queue.add(objectKey(left.metadata));
    }
    await ended;
    for (const stop of stops) stop();
  },
};

function gather({ caller, informers, clock, log }: ControllerParts): Parts {
  const pods = informers.of(podDefinition);
  pods.addIndex(podLabelIndex, podLabels);
  return {
    client: resourceClient(caller, endpointsDefinition),
    services: informers.of(serviceDefinition),
    pods,
    endpoints: informers.of(endpointsDefinition),
    recorder: createEventRecorder({ caller, component: 'endpoint-controller', clock, log }),
    seen: new Map(),
  };
}

type SyncParts = Parts & {
  readonly writes: Expectations<Endpoints>;
  readonly notes: WriteRecorder<Endpoints>;
};

async function sync(parts: SyncParts, key: string): Promise<void> {
  const { services, pods, endpoints, writes, seen } = parts;
  const cached = endpoints.store.get(key);
  const current = writes.over(key, cached === undefined ? [] : [cached]).at(-1);
  const service = services.store.get(key);
  if (service === undefined) {
    if (current !== undefined) await remove(parts, current);
    seen.delete(key);
    return;
  }
  if (!hasSelectedPods(service)) return;
  const { namespace = '' } = service.metadata;
  const selected = selectPods(pods.store, namespace, service.spec.selector ?? {});
  const trigger = triggerTime(seen.get(key), service, selected);
  seen.set(key, trigger.seen);
  const desired = desiredEndpoints(service, selected);
  const change = diffEndpoints({ service, desired, current, triggerTime: trigger.text });
  await write(parts, change);
}

async function remove({ client, notes }: SyncParts, current: Endpoints): Promise<void> {
  const { name = '', namespace = '', uid } = current.metadata;
  try {
    await client.delete({ namespace, name }, uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  notes.deleted(current);
}

async function write(
  { client, notes, recorder }: SyncParts,
  change: EndpointsChange,
): Promise<void> {
  if (change.action === 'none') return;
  const { endpoints, action } = change;
  try {
    notes.wrote(await client[action](endpoints));
  } catch (error) {
    if (action === 'create' && isNamespaceTerminating(error)) return;
    // These heal with the next look; anything else is for people to see.
    if (isConflict(error) || isAlreadyExists(error)) throw error;
    const key = objectKey(endpoints.metadata);
    const text = error instanceof Error ? error.message : String(error);
    recorder.record(
      endpoints,
      action === 'create'
        ? {
            type: 'Warning',
            reason: 'FailedToCreateEndpoint',
            message: `Failed to create endpoint for service ${key}: ${text}`,
          }
        : {
            type: 'Warning',
            reason: 'FailedToUpdateEndpoint',
            message: `Failed to update endpoint ${key}: ${text}`,
          },
    );
    throw error;
  }
}
