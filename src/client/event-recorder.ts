// Tells people what happened to an object: Events of the core group, counted when they repeat.
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
  /** Never fails and never waits: events are a courtesy. */
  readonly record: (object: KubeObject, event: RecordedEvent) => void;
  /** Resolves when what was recorded so far has been sent or given up. */
  readonly flushed: () => Promise<void>;
};

export type RecordedEvent = Omit<ReportedEvent, 'object'> & {
  /** The part of the object that it is about, such as `spec.containers{app}`. */
  readonly fieldPath?: string;
};

export type EventRecorderOptions = {
  readonly caller: ApiCaller;
  /** Who reports: `endpoint-slice-controller`. */
  readonly component: string;
  /** The node it runs on, where that matters. */
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
/** Events that wait to be sent; past this the newest are dropped. */
const maxWaiting = 1000;

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
  let waiting = 0;
  let sending: Promise<void> = Promise.resolve();
  return {
    record(object, { fieldPath, ...event }) {
      if (waiting >= maxWaiting) {
        options.log.debug('event dropped, too many wait', { reason: event.reason });
        return;
      }
      waiting += 1;
      const part = fieldPath === undefined ? {} : { fieldPath };
      const reported = { ...event, object: { ...referenceTo(object), ...part } };
      sending = sending
        .then(() => send(recorder, reported))
        .finally(() => {
          waiting -= 1;
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
    // A namespace that is going takes no events; nobody misses them.
    if (!isForbidden(error) && !isNotFound(error)) {
      log.debug('event could not be sent', { reason: event.reason, error: String(error) });
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
    // Events are kept for an hour; after that the next one is new.
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
