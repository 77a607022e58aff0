import { nameIsPathSegment } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { eventColumns } from './columns.ts';
import { referenceSelectors } from './reference-selectors.ts';
import { type Event, eventSchema, eventTtlSeconds } from './types.ts';
import { validateEvent } from './validate.ts';

export const eventDefinition: KindDefinition<Event> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  schema: eventSchema,
  // The core group only requires an event's name to be usable in a path.
  nameRule: nameIsPathSegment,
  create: { validateCreate: (event) => validateEvent(event, 'core') },
  update: { validateUpdate: (_before, after) => validateEvent(after, 'core') },
  createsOnUpdate: true,
  ttlSeconds: eventTtlSeconds,
  columns: eventColumns,
  fieldSelectors: {
    ...referenceSelectors('involvedObject', (event: Event) => event.involvedObject),
    reason: ({ reason = '' }) => reason,
    reportingComponent: ({ reportingComponent }) => reportingComponent,
    source: ({ source, reportingComponent }) => source.component || reportingComponent,
    type: ({ type = '' }) => type,
  },
  fieldSelectorError: 'label',
};
