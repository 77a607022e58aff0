// Rules of events.k8s.io/v1 beyond those of the core group.
import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { immutableField } from '../immutable-field.ts';
import { type ObjectReference, referenceInGoSpelling } from '../object-reference.ts';
import type { Event } from './types.ts';
import { isUnset, validateEvent } from './validate.ts';

export function validateEventsV1Create(event: Event): readonly FieldError[] {
  const { component, host } = event.source;
  const mustBeUnset = [
    ['firstTimestamp', !isUnset(event.firstTimestamp)],
    ['lastTimestamp', !isUnset(event.lastTimestamp)],
    ['count', Boolean(event.count)],
    ['source', Boolean(component) || Boolean(host)],
  ] as const;
  return [
    ...validateEvent(event, 'events.k8s.io'),
    ...validateSeries(event),
    ...(isUnset(event.eventTime) ? [required('eventTime')] : []),
    ...(event.type === 'Normal' || event.type === 'Warning'
      ? []
      : [invalid('type', '', `has invalid value: ${event.type ?? ''}`)]),
    ...mustBeUnset
      .filter(([, isSet]) => isSet)
      .map(([field]) => invalid(field, '', 'needs to be unset')),
  ];
}

/** Only the series is mutable. */
export function validateEventsV1Update(before: Event, after: Event): readonly FieldError[] {
  return [
    ...validateEvent(after, 'events.k8s.io'),
    ...(deepEqual(before.series, after.series) ? [] : validateSeries(after)),
    ...fixedFields(before, after).flatMap(immutableField),
  ];
}

function validateSeries({ series }: Event): readonly FieldError[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isUnset(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

type FixedField = {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly shown?: unknown;
};

/** In upstream's order; the reason is checked twice, and the causes show it. */
function fixedFields(before: Event, after: Event): readonly FixedField[] {
  const reason = { field: 'reason', before: before.reason ?? '', after: after.reason ?? '' };
  return [
    fixedReference('involvedObject', before.involvedObject, after.involvedObject),
    reason,
    { field: 'message', before: before.message ?? '', after: after.message ?? '' },
    {
      field: 'source',
      before: before.source,
      after: after.source,
      shown: { Component: after.source.component ?? '', Host: after.source.host ?? '' },
    },
    fixedTime('firstTimestamp', before.firstTimestamp, after.firstTimestamp),
    fixedTime('lastTimestamp', before.lastTimestamp, after.lastTimestamp),
    { field: 'count', before: before.count ?? 0, after: after.count ?? 0 },
    reason,
    { field: 'type', before: before.type ?? '', after: after.type ?? '' },
    fixedTime('eventTime', before.eventTime, after.eventTime),
    { field: 'action', before: before.action ?? '', after: after.action ?? '' },
    fixedReference('related', before.related, after.related),
    {
      field: 'reportingController',
      before: before.reportingComponent,
      after: after.reportingComponent,
    },
    {
      field: 'reportingInstance',
      before: before.reportingInstance,
      after: after.reportingInstance,
    },
  ];
}

function fixedTime(field: string, before: string | null, after: string | null): FixedField {
  return { field, before: before || null, after: after || null };
}

function fixedReference(
  field: string,
  before: ObjectReference | undefined,
  after: ObjectReference | undefined,
): FixedField {
  return {
    field,
    before: before ?? null,
    after: after ?? null,
    shown: after === undefined ? null : referenceInGoSpelling(after),
  };
}
