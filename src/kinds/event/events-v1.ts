// Converts between stored core Events and events.k8s.io/v1.
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { objectReference } from '../object-reference.ts';
import { type Event, eventSource } from './types.ts';

const eventsV1Series = s.struct(
  'EventSeries',
  {
    count: s.required(s.always(s.int32('How often it happened so far.'))),
    lastObservedTime: s.required(s.always(s.microTime('When it last happened.'))),
  },
  { numbers: [1, 2] },
);

export const eventsV1Schema = s.struct(
  'Event',
  {
    ...objectFields,
    eventTime: s.required(s.always(s.microTime('When it was first seen.'))),
    series: s.pointer(eventsV1Series, 'Set once the event has repeated.'),
    reportingController: s.string('Controller that reported it, such as example.com/c.'),
    reportingInstance: s.string('Instance of that controller.'),
    action: s.string('What was done or failed to be done.'),
    reason: s.string('Why it happened, one word.'),
    regarding: s.described(objectReference, 'What the event is about.'),
    related: s.pointer(objectReference, 'A second object that has to do with it.'),
    note: s.string('What happened, for people.'),
    type: s.string('Normal or Warning.'),
    deprecatedSource: s.described(eventSource, 'Who reported it, in events of the old style.'),
    deprecatedFirstTimestamp: s.always(s.time('When an old-style event was first recorded.')),
    deprecatedLastTimestamp: s.always(s.time('When an old-style event was last recorded.')),
    deprecatedCount: s.int32('How often an old-style event happened.'),
  },
  {
    description: 'Something that happened to an object, in the form of the newer API.',
    numbers: [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  },
);
export type EventsV1Event = KubeObject & s.Static<typeof eventsV1Schema>;

export function fromStoredEvent(event: Event): EventsV1Event {
  const { reportingComponent, reportingInstance, action, reason, message, type, count } = event;
  return {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: event.metadata,
    eventTime: event.eventTime,
    ...(event.series === undefined
      ? {}
      : { series: { ...event.series, count: event.series.count ?? 0 } }),
    ...(reportingComponent ? { reportingController: reportingComponent } : {}),
    ...(reportingInstance ? { reportingInstance } : {}),
    ...(action ? { action } : {}),
    ...(reason ? { reason } : {}),
    regarding: event.involvedObject,
    ...(event.related === undefined ? {} : { related: event.related }),
    ...(message ? { note: message } : {}),
    ...(type ? { type } : {}),
    deprecatedSource: event.source,
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
    ...(count ? { deprecatedCount: count } : {}),
  };
}

export function toStoredEvent(event: EventsV1Event): Event {
  const { action, reason, note, type, series, deprecatedCount } = event;
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: event.metadata,
    involvedObject: event.regarding,
    ...(reason ? { reason } : {}),
    ...(note ? { message: note } : {}),
    source: event.deprecatedSource,
    firstTimestamp: event.deprecatedFirstTimestamp,
    lastTimestamp: event.deprecatedLastTimestamp,
    ...(deprecatedCount ? { count: deprecatedCount } : {}),
    ...(type ? { type } : {}),
    eventTime: event.eventTime,
    ...(series === undefined
      ? {}
      : {
          series: {
            ...(series.count ? { count: series.count } : {}),
            lastObservedTime: series.lastObservedTime,
          },
        }),
    ...(action ? { action } : {}),
    ...(event.related === undefined ? {} : { related: event.related }),
    reportingComponent: event.reportingController ?? '',
    reportingInstance: event.reportingInstance ?? '',
  };
}
