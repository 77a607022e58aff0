// The error that API clients see, on server and client alike: it carries a Kubernetes Status.
import { goQuote } from '../schema/go-quote.ts';
import { cutText } from './cut-text.ts';
import { errorBody, errorText, type FieldError } from './field-error.ts';

export type StatusCause = {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
};

export type StatusDetails = {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
};

export type Status = {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
};

/** A resource in messages: plural and group. */
export type ResourceName = { readonly group: string; readonly resource: string };
/** A kind in messages: `Service`, `EndpointSlice.discovery.k8s.io`. */
export type KindName = { readonly group: string; readonly kind: string };

/** Not `Warning`, which kubectl prints: its output is to equal upstream's. */
export const hintHeader = 'fairlead-hint';

export class ApiError extends Error {
  readonly status: Status;
  /** An explanation for people where the message has to be upstream's; sent in the header `hintHeader`. */
  readonly hint: string | undefined;
  constructor(status: Status, options?: ErrorOptions & { readonly hint?: string }) {
    super(status.message ?? status.reason ?? 'unknown error', options);
    this.name = 'ApiError';
    this.status = status;
    this.hint = options?.hint;
  }
}

type Failure = {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
};

/** Limit of a message: it contains what clients sent, which may be megabytes. */
const maxMessage = 256 * 1024;

export function failure(parts: Failure): ApiError {
  const { code, reason, details } = parts;
  const message = cutText(parts.message, maxMessage);
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

const dotted = (first: string, group: string): string =>
  group === '' ? first : `${first}.${group}`;

function about({ group, resource }: ResourceName, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name: cutText(name) }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  };
}

export function notFound(resource: ResourceName, name: string): ApiError {
  const message = `${dotted(resource.resource, resource.group)} ${quote(name)} not found`;
  return failure({ code: 404, reason: 'NotFound', message, details: about(resource, name) });
}

export function alreadyExists(resource: ResourceName, name: string): ApiError {
  const message = `${dotted(resource.resource, resource.group)} ${quote(name)} already exists`;
  return failure({ code: 409, reason: 'AlreadyExists', message, details: about(resource, name) });
}

/** A generated name exists already; another attempt may succeed. */
export function generatedNameTaken(resource: ResourceName, name: string): ApiError {
  const { status } = alreadyExists(resource, name);
  const message = `${status.message}, the server was not able to generate a unique name for the object`;
  return new ApiError({
    ...status,
    message,
    details: { ...status.details, retryAfterSeconds: 1 },
  });
}

export function conflict(resource: ResourceName, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${dotted(resource.resource, resource.group)} ${quote(name)}: ${why}`;
  return failure({ code: 409, reason: 'Conflict', message, details: about(resource, name) });
}

export function forbidden(resource: ResourceName, name: string, why: string): ApiError {
  const subject = dotted(resource.resource, resource.group);
  const message =
    subject === ''
      ? `forbidden: ${why}`
      : name === ''
        ? `${subject} is forbidden: ${why}`
        : `${subject} ${quote(name)} is forbidden: ${why}`;
  return failure({ code: 403, reason: 'Forbidden', message, details: about(resource, name) });
}

export function unauthorized(message = 'Unauthorized'): ApiError {
  return failure({ code: 401, reason: 'Unauthorized', message });
}

export function badRequest(message: string): ApiError {
  return failure({ code: 400, reason: 'BadRequest', message });
}

/** No handler serves this path. */
export function notServed(): ApiError {
  return failure({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

export function methodNotAllowed(): ApiError {
  return failure({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

export function expired(message: string): ApiError {
  return failure({ code: 410, reason: 'Expired', message });
}

export function tooLarge(message: string): ApiError {
  return failure({ code: 413, reason: 'RequestEntityTooLarge', message });
}

export function internal(message: string): ApiError {
  return failure({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

export function serviceUnavailable(message: string): ApiError {
  return failure({ code: 503, reason: 'ServiceUnavailable', message });
}

/** Number of field errors in a response: a body of a few megabytes can have a hundred thousand. */
const maxReported = 1000;

/** 422 with one cause for each field error; equal messages are listed once, as upstream. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[]): ApiError {
  const shown = errors.slice(0, countWithin(errors));
  const texts = [...new Set(shown.map(errorText))];
  if (errors.length > shown.length) texts.push(`and ${errors.length - shown.length} more`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const message = `${dotted(kind.kind, kind.group)} ${quote(name)} is invalid${errors.length === 0 ? '' : `: ${list}`}`;
  const causes = shown.map((e) => ({ reason: e.reason, message: errorBody(e), field: e.field }));
  return failure({
    code: 422,
    reason: 'Invalid',
    message,
    details: {
      ...(name === '' ? {} : { name: cutText(name) }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.kind,
      ...(causes.length === 0 ? {} : { causes }),
    },
  });
}

/** How many errors fit into the limits of number and size. */
function countWithin(errors: readonly FieldError[]): number {
  let length = 0;
  let count = 0;
  for (const error of errors) {
    length += error.field.length + error.body.length + error.detail.length;
    if (count > 0 && (count === maxReported || length > maxMessage)) break;
    count += 1;
  }
  return count;
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError;
}

const hasReason =
  (reason: string) =>
  (error: unknown): boolean =>
    isApiError(error) && error.status.reason === reason;

export const isNotFound = hasReason('NotFound');
export const isAlreadyExists = hasReason('AlreadyExists');
export const isConflict = hasReason('Conflict');
export const isInvalid = hasReason('Invalid');
export const isForbidden = hasReason('Forbidden');
export const isExpired = (error: unknown): boolean =>
  isApiError(error) && error.status.code === 410;

/** Go's %q, for texts that occur in names. */
function quote(text: string): string {
  return goQuote(cutText(text));
}
