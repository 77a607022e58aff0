// Keeps the Endpoints of every Service with a selector.

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
import { type TriggerState, triggerTime } from '../../kinds/endpoints/trigger-time.ts';
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
import { desiredEndpoints, isOrphan } from './desired.ts';
import { diffEndpoints, type EndpointsChange } from './diff.ts';

const maxRetries = 15;
/** Changes by others are reverted after this delay, so that two programs do not write in turns without pause. */
const externalChangeMs = 1000;

type Parts = {
  readonly client: ResourceClient<Endpoints>;
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly endpoints: Informer<Endpoints>;
  readonly recorder: EventRecorder;
  readonly triggerTimes: Map<string, TriggerState>;
};

export const endpointsController: Controller = {
  name: 'endpoints-controller',
  shortName: 'endpoint',
  account: 'endpoint-controller',
  watches: mayWatch(podDefinition, serviceDefinition, endpointsDefinition),
  rights: [may('create delete update', endpointsDefinition), mayRecordEvents],
  async run(shared, signal) {
    const { clock, log, settings, queueMetrics: metrics } = shared;
    const parts = createParts(shared);
    const { services, pods, endpoints } = parts;
    if (!(await waitForSync([services, pods, endpoints], signal))) return;
    let isStarting = true;
    const writes = createExpectations<Endpoints>({
      clock,
      keyOf: ({ metadata }) => objectKey(metadata),
      changedExternally: (key) => {
        // Without a Service with a selector they are not ours.
        const service = services.store.get(key);
        if (isStarting || service === undefined || !hasSelectedPods(service)) return;
        queue.addAfter(key, externalChangeMs);
      },
    });
    const reconcile = async (key: string): Promise<undefined> => {
      await writes.during(key, (writeRecorder) => sync({ ...parts, writes, writeRecorder }, key));
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
    // Existing objects are reported as added. It is enough that every Service gets into the queue.
    const stops = [
      services.onChange(follow.services),
      endpoints.onChange(writes.handler),
      pods.onChange(follow.pods),
    ];
    isStarting = false;
    for (const existing of endpoints.store.values()) {
      if (isOrphan(existing, services.store)) queue.add(objectKey(existing.metadata));
    }
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts({ caller, informers, clock, log }: ControllerParts): Parts {
  const pods = informers.of(podDefinition);
  pods.addIndex(podLabelIndex, podLabels);
  return {
    client: resourceClient(caller, endpointsDefinition),
    services: informers.of(serviceDefinition),
    pods,
    endpoints: informers.of(endpointsDefinition),
    recorder: createEventRecorder({ caller, component: 'endpoint-controller', clock, log }),
    triggerTimes: new Map(),
  };
}

type SyncParts = Parts & {
  readonly writes: Expectations<Endpoints>;
  readonly writeRecorder: WriteRecorder<Endpoints>;
};

async function sync(parts: SyncParts, key: string): Promise<void> {
  const { services, pods, endpoints, writes, triggerTimes } = parts;
  const cached = endpoints.store.get(key);
  const current = writes.over(key, cached === undefined ? [] : [cached]).at(-1);
  const service = services.store.get(key);
  if (service === undefined) {
    if (current !== undefined) await remove(parts, current);
    triggerTimes.delete(key);
    return;
  }
  if (!hasSelectedPods(service)) return;
  const { namespace = '' } = service.metadata;
  const selected = selectPods(pods.store, namespace, service.spec.selector ?? {});
  const trigger = triggerTime(triggerTimes.get(key), service, selected);
  triggerTimes.set(key, trigger.state);
  const desired = desiredEndpoints(service, selected);
  const change = diffEndpoints({ service, desired, current, triggerTime: trigger.text });
  await write(parts, change);
}

async function remove({ client, writeRecorder }: SyncParts, current: Endpoints): Promise<void> {
  const { name = '', namespace = '', uid } = current.metadata;
  try {
    await client.delete({ namespace, name }, uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  writeRecorder.deleted(current);
}

async function write(
  { client, writeRecorder, recorder }: SyncParts,
  change: EndpointsChange,
): Promise<void> {
  if (change.action === 'none') return;
  const { endpoints, action } = change;
  try {
    writeRecorder.wrote(await client[action](endpoints));
  } catch (error) {
    if (action === 'create' && isNamespaceTerminating(error)) return;
    // These are retried; anything else becomes an event.
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
