// Events as events.k8s.io serves them.
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { KindDefinition } from '../definition.ts';
import { eventColumns } from './columns.ts';
import { type EventsV1Event, eventsV1Schema, fromStoredEvent, toStoredEvent } from './events-v1.ts';
import { referenceSelectors } from './reference-selectors.ts';
import { type Event, eventTtlSeconds } from './types.ts';
import { validateEventsV1Create, validateEventsV1Update } from './validate-events-v1.ts';

export const eventsEventDefinition: KindDefinition<EventsV1Event> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  storedAs: {
    plural: 'events',
    group: '',
    fromStored: (stored: KubeObject) => fromStoredEvent(stored as Event),
    toStored: toStoredEvent,
  },
  schema: eventsV1Schema,
  nameRule: nameIsDnsSubdomain,
  create: { validateCreate: (event) => validateEventsV1Create(toStoredEvent(event)) },
  update: {
    validateUpdate: (before, after) =>
      validateEventsV1Update(toStoredEvent(before), toStoredEvent(after)),
  },
  createsOnUpdate: true,
  ttlSeconds: eventTtlSeconds,
  columns: eventColumns.map((column) => ({
    ...column,
    cell: (event, now) => column.cell(toStoredEvent(event), now),
  })),
  fieldSelectors: {
    ...referenceSelectors('regarding', (event: EventsV1Event) => event.regarding),
    reason: ({ reason = '' }) => reason,
    reportingController: ({ reportingController = '' }) => reportingController,
    type: ({ type = '' }) => type,
  },
  fieldSelectorError: 'label',
};
