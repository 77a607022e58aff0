// Core Events, which is also the stored form.
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { objectReference } from '../object-reference.ts';

export const eventSource = s.struct(
  'EventSource',
  {
    component: s.string('Program that reported the event.'),
    host: s.string('Node on which that program runs.'),
  },
  { numbers: [1, 2] },
);
export type EventSource = s.Static<typeof eventSource>;

const eventSeries = s.struct(
  'EventSeries',
  {
    count: s.int32('How often it happened so far.'),
    lastObservedTime: s.always(s.microTime('When it last happened.')),
  },
  { numbers: [1, 2] },
);
export type EventSeries = s.Static<typeof eventSeries>;

export const eventSchema = s.struct(
  'Event',
  {
    ...objectFields,
    metadata: s.required(objectFields.metadata),
    involvedObject: s.required(s.described(objectReference, 'What the event is about.')),
    reason: s.string('Why it happened, one word.'),
    message: s.string('What happened, for people.'),
    source: s.described(eventSource, 'Who reported it.'),
    firstTimestamp: s.always(s.time('When it was first recorded.')),
    lastTimestamp: s.always(s.time('When it was last recorded.')),
    count: s.int32('How often it happened.'),
    type: s.string('Normal or Warning.'),
    eventTime: s.always(s.microTime('When it was first seen; set in events of the new style.')),
    series: s.pointer(eventSeries, 'Set once the event has repeated.'),
    action: s.string('What was done or failed to be done.'),
    related: s.pointer(objectReference, 'A second object that has to do with it.'),
    reportingComponent: s.always(s.string('Controller that reported it, such as example.com/c.')),
    reportingInstance: s.always(s.string('Instance of that controller.')),
  },
  {
    description:
      'Something that happened to an object, for people to read. It expires after a while.',
    numbers: [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  },
);
export type Event = KubeObject & s.Static<typeof eventSchema>;

/** Expiry of events. */
export const eventTtlSeconds = 60 * 60;
