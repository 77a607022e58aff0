// Records Events (core/v1) about objects; repeated events increment a count.
import type { Clock } from '../host/clock.ts';
import { isForbidden, isNotFound } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import type { Log } from '../observe/log.ts';
import { formatTime } from '../schema/time.ts';
import type { ApiCaller } from './api-call.ts';
import {
  createEventCorrelator,
  type EventCorrelator,
  type ReportedEvent,
} from './event-correlator.ts';
import type { ResourceNames } from './resource.ts';
import { type ResourceClient, resourceClient } from './rest.ts';

export type EventRecorder = {
  /** Never throws and never blocks: events are best effort. */
  readonly record: (object: KubeObject, event: RecordedEvent) => void;
  /** Resolves when all events recorded so far have been sent or dropped. */
  readonly flushed: () => Promise<void>;
};

export type RecordedEvent = Omit<ReportedEvent, 'object'> & {
  /** The field of the object that the event is about, such as `spec.containers{app}`. */
  readonly fieldPath?: string;
};

export type EventRecorderOptions = {
  readonly caller: ApiCaller;
  /** The reporting component, such as `endpoint-slice-controller`. */
  readonly component: string;
  /** The node that the component runs on, for components of a node. */
  readonly host?: string;
  readonly clock: Clock;
  readonly log: Log;
};

const eventNames: ResourceNames = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};
/** Events that wait to be sent; when the queue is full, new events are dropped. */
const maxQueued = 1000;

type Recorder = EventRecorderOptions & {
  readonly client: ResourceClient<KubeObject>;
  readonly correlator: EventCorrelator;
};

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const recorder = {
    ...options,
    client: resourceClient(options.caller, eventNames),
    correlator: createEventCorrelator(),
  };
  let queued = 0;
  let sending: Promise<void> = Promise.resolve();
  return {
    record(object, { fieldPath, ...event }) {
      if (queued >= maxQueued) {
        options.log.debug('Dropped event, queue is full', { reason: event.reason });
        return;
      }
      queued += 1;
      const part = fieldPath === undefined ? {} : { fieldPath };
      const reported = { ...event, object: { ...referenceTo(object), ...part } };
      sending = sending
        .then(() => send(recorder, reported))
        .finally(() => {
          queued -= 1;
        });
    },
    flushed: () => sending,
  };
}

function referenceTo({ kind, apiVersion, metadata }: KubeObject): ReportedEvent['object'] {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    kind,
    apiVersion,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

async function send(recorder: Recorder, event: ReportedEvent): Promise<void> {
  const { correlator, clock, log } = recorder;
  try {
    const decision = correlator.decide(event, clock.now());
    if (decision.action === 'create') await create(recorder, event, decision.message);
    else if (decision.action === 'count') await count(recorder, event, decision);
  } catch (error) {
    // A terminating or deleted namespace accepts no events: drop them silently.
    if (!isForbidden(error) && !isNotFound(error)) {
      log.debug('Failed to record event', { reason: event.reason, error: String(error) });
    }
  }
}

async function create(recorder: Recorder, event: ReportedEvent, message: string): Promise<void> {
  const { client, clock, correlator } = recorder;
  const object = eventObject(recorder, event, message);
  await client.create(object);
  correlator.stored(event, object.metadata.name, clock.now());
}

type Counted = { readonly name: string; readonly message: string; readonly count: number };

async function count(
  recorder: Recorder,
  event: ReportedEvent,
  { name, message, count }: Counted,
): Promise<void> {
  const { client, clock, correlator } = recorder;
  const namespace = event.object.namespace ?? 'default';
  const patch = { message, count, lastTimestamp: formatTime(clock.now()) };
  try {
    await client.patch({ namespace, name }, patch, { type: 'merge' });
  } catch (error) {
    // Events expire after an hour; create a new one then.
    if (!isNotFound(error)) throw error;
    correlator.forget(event);
    await create(recorder, event, message);
  }
}

function eventObject({ clock, component, host }: Recorder, event: ReportedEvent, message: string) {
  const now = clock.now();
  const { object, reason, type, action } = event;
  // Two events of one object in the same millisecond need different names.
  const suffix = (BigInt(Math.trunc(now)) * 1_000_000n + BigInt(nextSerial())).toString(16);
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: `${object.name ?? ''}.${suffix}`, namespace: object.namespace ?? 'default' },
    involvedObject: object,
    reason,
    message,
    source: { component, ...(host === undefined ? {} : { host }) },
    firstTimestamp: formatTime(now),
    lastTimestamp: formatTime(now),
    count: 1,
    type,
    eventTime: null,
    ...(action === undefined ? {} : { action }),
    reportingComponent: component,
    reportingInstance: host ?? '',
  };
}

let serial = 0;
function nextSerial(): number {
  serial = (serial + 1) % 1_000_000;
  return serial;
}
