// Records an Event about an object; a repeated one is counted.
import { createHash } from 'node:crypto';
import type { Event } from '../../kinds/event/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import { formatTime } from '../../schema/time.ts';
import type { ApiContext } from '../context.ts';
import { serverWrite } from './server-write.ts';
import { updateObject } from './update-object.ts';

export type OwnEvent = {
  readonly object: KubeObject;
  /** Who reports: `portallocator-repair-controller`. */
  readonly component: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
};

export async function recordEvent(context: ApiContext, event: OwnEvent): Promise<void> {
  const resource = context.resources.of('events');
  const now = formatTime(context.now());
  const body = eventBody(event, now);
  const { name, namespace } = body.metadata;
  const first = decode(resource.definition.schema, body).object as KubeObject;
  await updateObject(context, {
    resource,
    namespace,
    name,
    subresource: '',
    rules: resource.definition.update,
    desired: (live) => (live === undefined ? first : counted(live as Event, now)),
    create: { authorize: 'as the server' },
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

function counted(event: Event, now: string): Event {
  return { ...event, count: (event.count ?? 1) + 1, lastTimestamp: now };
}

/** Equal events have the same name, so that they are counted. */
function eventBody({ object, component, type, reason, message }: OwnEvent, now: string) {
  const { name = '', namespace = 'default', uid = '', resourceVersion = '' } = object.metadata;
  const digest = createHash('sha256').update(`${uid} ${component} ${reason} ${message}`);
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: `${name}.${digest.digest('hex').slice(0, 16)}`, namespace },
    involvedObject: {
      kind: object.kind,
      apiVersion: object.apiVersion,
      namespace,
      name,
      uid,
      resourceVersion,
    },
    reason,
    message,
    source: { component },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    type,
    eventTime: null,
    reportingComponent: component,
    reportingInstance: '',
  };
}
