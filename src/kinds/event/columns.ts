import type { Column } from '../definition.ts';
import { nameColumn, timeSince } from '../metadata-columns.ts';
import type { Event } from './types.ts';

export const eventColumns: readonly Column<Event>[] = [
  {
    name: 'Last Seen',
    type: 'string',
    description: 'The time at which the most recent occurrence of this event was recorded.',
    cell: lastSeen,
  },
  {
    name: 'Type',
    type: 'string',
    description: 'Type of this event (Normal, Warning), new types could be added in the future',
    cell: ({ type = '' }) => type,
  },
  {
    name: 'Reason',
    type: 'string',
    description:
      "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    cell: ({ reason = '' }) => reason,
  },
  {
    name: 'Object',
    type: 'string',
    description: 'The object that this event is about.',
    cell: aboutText,
  },
  {
    name: 'Subobject',
    type: 'string',
    priority: 1,
    description:
      'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
    cell: ({ involvedObject }) => involvedObject.fieldPath ?? '',
  },
  {
    name: 'Source',
    type: 'string',
    priority: 1,
    description:
      'The component reporting this event. Should be a short machine understandable string.',
    cell: sourceText,
  },
  {
    name: 'Message',
    type: 'string',
    description: 'A human-readable description of the status of this operation.',
    cell: ({ message = '' }) => message.trim(),
  },
  {
    name: 'First Seen',
    type: 'string',
    priority: 1,
    description:
      'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
    cell: firstSeen,
  },
  {
    name: 'Count',
    type: 'string',
    priority: 1,
    description: 'The number of times this event has occurred.',
    // An event of the new form that occurred once has no count.
    cell: ({ series, count }) => (series === undefined ? count || 1 : (series.count ?? 0)),
  },
  { ...nameColumn, priority: 1 },
];

function firstSeen({ firstTimestamp, eventTime }: Event, now: number): string {
  return timeSince(firstTimestamp || eventTime, now);
}

function lastSeen(event: Event, now: number): string {
  if (event.series !== undefined) return timeSince(event.series.lastObservedTime, now);
  return event.lastTimestamp ? timeSince(event.lastTimestamp, now) : firstSeen(event, now);
}

function aboutText({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? '').toLowerCase();
  return involvedObject.name ? `${kind}/${involvedObject.name}` : kind;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source.component || reportingComponent;
  const instance = source.host || reportingInstance;
  return instance === '' ? component : `${component}, ${instance}`;
}
