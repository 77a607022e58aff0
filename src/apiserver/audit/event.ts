// One line of the audit log: an Event of audit.k8s.io/v1, its fields in Kubernetes' order.
import type { Status } from '../../meta/api-error.ts';
import type { User } from '../access/user.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { AuditLevel, AuditStage } from './policy.ts';

export type EventParts = {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: AuditStage;
  readonly requestUri: string;
  readonly info: RequestInfo;
  readonly user: User | undefined;
  readonly impersonated: User | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  /** Present once there is a response. */
  readonly answer?: { readonly code: number; readonly status: Status | undefined };
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  /** Milliseconds. */
  readonly receivedAt: number;
  readonly stageAt: number;
  readonly annotations: Readonly<Record<string, string>>;
};

/** Metadata that is in the body and not in the path. */
type BodyMetadata = {
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
};

export function auditEvent(parts: EventParts): object {
  const { info, user, impersonated, sourceIps, userAgent, annotations } = parts;
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: parts.level,
    auditID: parts.auditId,
    stage: parts.stage,
    requestURI: parts.requestUri,
    verb: info.verb,
    user: user === undefined ? {} : userInfo(user),
    ...(impersonated === undefined ? {} : { impersonatedUser: userInfo(impersonated) }),
    sourceIPs: sourceIps,
    ...(userAgent === '' ? {} : { userAgent: userAgent.slice(0, maxUserAgentLength) }),
    ...(info.kind === 'path' ? {} : { objectRef: objectRef(info, parts.requestObject) }),
    ...(parts.answer === undefined
      ? {}
      : { responseStatus: responseStatus(parts.answer, isConfidential(parts)) }),
    ...(reaches(parts.level, 'Request') && parts.requestObject !== undefined
      ? { requestObject: parts.requestObject }
      : {}),
    ...(reaches(parts.level, 'RequestResponse') && parts.responseObject !== undefined
      ? { responseObject: parts.responseObject }
      : {}),
    requestReceivedTimestamp: microTime(parts.receivedAt),
    stageTimestamp: microTime(parts.stageAt),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** As Kubernetes: the value is the client's, and unbounded. */
const maxUserAgentLength = 1024;

const order: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];

export function reaches(level: AuditLevel, wanted: AuditLevel): boolean {
  return order.indexOf(level) >= order.indexOf(wanted);
}

function userInfo({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
}

function objectRef(info: Extract<RequestInfo, { kind: 'resource' }>, body: unknown): object {
  const inBody = metadataOf(body);
  const text = (inPath: string, value: unknown): string =>
    inPath === '' && typeof value === 'string' ? value : inPath;
  const fields = {
    resource: info.resource,
    namespace: text(info.namespace, inBody.namespace),
    name: text(info.name, inBody.name),
    uid: text('', inBody.uid),
    apiGroup: info.group,
    apiVersion: info.version,
    resourceVersion: text('', inBody.resourceVersion),
    subresource: info.subresource,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

function metadataOf(body: unknown): BodyMetadata {
  const { metadata } = (body ?? {}) as { metadata?: unknown };
  return typeof metadata === 'object' && metadata !== null ? metadata : {};
}

/** Resources whose content must not be logged below level Request. */
const confidentialResources = new Set(['secrets', 'configmaps', 'tokenreviews', 'serviceaccounts']);

const isConfidential = ({ info, level }: EventParts): boolean =>
  info.kind === 'resource' &&
  confidentialResources.has(info.resource) &&
  !reaches(level, 'Request');

/** Codes of responses that quote the request, or the object that a patch would produce. */
const quotingCodes = new Set([400, 422]);

function responseStatus(
  { code, status }: NonNullable<EventParts['answer']>,
  isConfidentialObject: boolean,
): object {
  if (status === undefined) return { metadata: {}, code };
  if (isConfidentialObject && quotingCodes.has(code)) {
    const { reason } = status;
    return { metadata: {}, status: status.status, ...(reason && { reason }), code };
  }
  const { message, reason, details } = status;
  return {
    metadata: {},
    status: status.status,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** Kubernetes writes microseconds; the clock here has thousandths. */
function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
