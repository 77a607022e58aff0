// Rules of both API groups, on the stored form; messages use its field names in both.
import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { dns1123Subdomain, qualifiedName } from '../../meta/names.ts';
import type { Event } from './types.ts';

/** The core group accepts old-form events; events.k8s.io requires the new form. */
export type EventStyle = 'core' | 'events.k8s.io';

const maxNameLength = 128;
const maxMessageLength = 1024;

export function validateEvent(event: Event, style: EventStyle): readonly FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  return [
    ...(isUnset(event.eventTime) ? validateOldStyle(event) : validateNewStyle(event, style)),
    ...dns1123Subdomain(namespace).map((detail) => invalid('namespace', namespace, detail)),
  ];
}

/** An unset time reads as null. */
export function isUnset(time: string | null | undefined): boolean {
  return !time;
}

function validateOldStyle(event: Event): readonly FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  const about = event.involvedObject.namespace ?? '';
  const fits = about === '' ? ['', 'default'].includes(namespace) : about === namespace;
  return fits ? [] : [wrongNamespace(about)];
}

function validateNewStyle(event: Event, style: EventStyle): readonly FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  const about = event.involvedObject.namespace ?? '';
  const controller = event.reportingComponent;
  const controllerField = style === 'core' ? 'reportingComponent' : 'reportingController';
  return [
    ...(about === '' && !['default', 'kube-system'].includes(namespace)
      ? [wrongNamespace(about)]
      : []),
    ...(controller === '' ? [required(controllerField)] : []),
    ...qualifiedName(controller).map((detail) => invalid(controllerField, controller, detail)),
    ...validateName('reportingInstance', event.reportingInstance),
    ...validateName('action', event.action ?? ''),
    ...validateName('reason', event.reason ?? ''),
    ...validateLength('message', event.message ?? '', maxMessageLength),
  ];
}

function wrongNamespace(about: string): FieldError {
  return invalid('involvedObject.namespace', about, 'does not match event.namespace');
}

function validateName(field: string, value: string): readonly FieldError[] {
  return value === '' ? [required(field)] : validateLength(field, value, maxNameLength);
}

function validateLength(field: string, value: string, limit: number): readonly FieldError[] {
  return Buffer.byteLength(value) > limit
    ? [invalid(field, '', `can have at most ${limit} characters`)]
    : [];
}
