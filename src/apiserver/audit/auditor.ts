// Audits requests: follows each one through its stages and writes events to the audit log. A request never waits for the
// log; lines for which there is no room are dropped and counted.
import type { Status } from '../../meta/api-error.ts';
import type { Counter, MetricsRegistry } from '../../observe/metrics.ts';
import type { AccessDecision, User } from '../access/user.ts';
import {
  type ApiRequest,
  type ApiResponse,
  header,
  isStream,
  isTunnel,
  type Tunnel,
} from '../message.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { AuditLog } from './audit-log.ts';
import { bodyObject, withoutManagedFields } from './body-object.ts';
import { auditEvent, type EventParts, reaches } from './event.ts';
import { createPolicyMatcher, type RequestAudit } from './match-policy.ts';
import type { AuditPolicy, AuditStage } from './policy.ts';
import { sourceIps } from './source-ips.ts';

export type AuditorOptions = {
  readonly policy: AuditPolicy;
  readonly log: AuditLog;
  readonly metrics: MetricsRegistry;
  /** Milliseconds. */
  readonly now: () => number;
};

export type Arrival = {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  /** Absent when authentication failed. */
  readonly user: User | undefined;
  readonly auditId: string;
  readonly traceId: string;
};

export type Auditor = {
  /** Undefined at level None. */
  readonly begin: (arrival: Arrival) => AuditedRequest | undefined;
};

export type AuditedRequest = {
  /** To use instead of the original: records the body when it is read, if the policy needs it. */
  readonly request: ApiRequest;
  readonly actsAs: (user: User) => void;
  readonly decided: (decision: AccessDecision) => void;
  /** Adds an annotation to the event. */
  readonly annotate: (key: string, value: string) => void;
  /** The response to use instead of the original: the end of a stream is recorded too. */
  readonly answered: (outcome: Outcome) => ApiResponse;
};

export type Outcome = {
  readonly response: ApiResponse;
  /** Of an error. */
  readonly status?: Status;
  /** Whether it is an unexpected error. */
  readonly isPanic?: boolean;
};

export function createAuditor({ policy, log, metrics, now }: AuditorOptions): Auditor {
  const matchPolicy = createPolicyMatcher(policy);
  const counters = createCounters(metrics);
  return {
    begin(arrival) {
      const { info: attributes, user } = arrival;
      const audit = matchPolicy({ user, attributes });
      counters.levels.add({ level: audit.level });
      if (audit.level === 'None') return undefined;
      const write = (event: object): void => {
        counters.events.add();
        log.write(`${JSON.stringify(event)}\n`);
      };
      return followRequest(arrival, audit, { now, write });
    },
  };
}

function createCounters(metrics: MetricsRegistry): {
  readonly events: Counter;
  readonly levels: Counter;
} {
  return {
    events: metrics.counter({
      name: 'apiserver_audit_event_total',
      help: 'Audit events made.',
    }),
    levels: metrics.counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests by the audit level of the policy.',
    }),
  };
}

type EventWriter = { readonly now: () => number; readonly write: (event: object) => void };

/** Annotations of Kubernetes for the authorization decision, and Fairlead's for the trace. */
const decisionKey = 'authorization.k8s.io/decision';
const reasonKey = 'authorization.k8s.io/reason';
const traceKey = 'fairlead.dev/trace-id';

function followRequest(arrival: Arrival, audit: RequestAudit, writer: EventWriter): AuditedRequest {
  const { request, info, user, auditId, traceId } = arrival;
  const receivedAt = writer.now();
  const annotations: Record<string, string> = { [traceKey]: traceId };
  const body = { bytes: new Uint8Array() };
  let impersonated: User | undefined;
  const fixed = {
    level: audit.level,
    auditId,
    requestUri: request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path,
    info,
    user,
    sourceIps: sourceIps(request),
    userAgent: header(request, 'user-agent') ?? '',
    receivedAt,
  };
  const note = (stage: AuditStage, more: Partial<EventParts> = {}): void => {
    if (audit.omitStages.includes(stage)) return;
    const stageAt = writer.now();
    writer.write(auditEvent({ ...fixed, stage, stageAt, impersonated, annotations, ...more }));
  };
  note('RequestReceived');
  return {
    request: wantsBody(audit, info) ? recordingBody(request, body) : request,
    actsAs(acting) {
      impersonated = acting;
    },
    decided({ allowed, reason }) {
      annotations[decisionKey] = allowed ? 'allow' : 'forbid';
      annotations[reasonKey] = reason;
    },
    annotate(key, value) {
      annotations[key] = value;
    },
    answered({ response, status, isPanic = false }) {
      const outcome = {
        answer: { code: response.status, status },
        ...objects(audit, { request, body: body.bytes, response }),
      };
      if (isStream(response.body) || isTunnel(response.body))
        return noteEnd(response, note, outcome);
      note(isPanic ? 'Panic' : 'ResponseComplete', outcome);
      return response;
    },
  };
}

/** On create, the name may be only in the body. */
function wantsBody({ level }: RequestAudit, info: RequestInfo): boolean {
  if (reaches(level, 'Request')) return true;
  return info.kind === 'resource' && info.verb === 'create' && info.name === '';
}

function recordingBody(request: ApiRequest, recorded: { bytes: Uint8Array }): ApiRequest {
  return {
    ...request,
    async body() {
      recorded.bytes = await request.body();
      return recorded.bytes;
    },
  };
}

type Bodies = {
  readonly request: ApiRequest;
  readonly body: Uint8Array;
  readonly response: ApiResponse;
};

function objects(audit: RequestAudit, { request, body, response }: Bodies): Partial<EventParts> {
  const shown = (object: unknown): unknown =>
    audit.omitManagedFields ? withoutManagedFields(object) : object;
  const contentType = header(request, 'content-type') ?? '';
  return {
    ...(body.length === 0
      ? {}
      : { requestObject: shown(bodyObject({ bytes: body, contentType })) }),
    ...(reaches(audit.level, 'RequestResponse')
      ? { responseObject: shown(responseObject(response)) }
      : {}),
  };
}

function responseObject({ headers, body }: ApiResponse): unknown {
  if (isStream(body) || isTunnel(body)) return undefined;
  const one = (name: string): string => String(headers[name] ?? '');
  return bodyObject({
    bytes: typeof body === 'string' ? Buffer.from(body) : body,
    contentType: one('content-type'),
    contentEncoding: one('content-encoding'),
  });
}

type Note = (stage: AuditStage, more?: Partial<EventParts>) => void;

function noteEnd(response: ApiResponse, note: Note, outcome: Partial<EventParts>): ApiResponse {
  const { body } = response;
  const begins = (): void => note('ResponseStarted', outcome);
  const ends = (): void => note('ResponseComplete', outcome);
  if (isTunnel(body)) {
    const tunnelTo: Tunnel['tunnelTo'] = (client) => {
      begins();
      client.once('close', ends);
      body.tunnelTo(client);
    };
    return { ...response, body: { tunnelTo } };
  }
  if (!isStream(body)) return response;
  return {
    ...response,
    body: {
      start(sink) {
        begins();
        sink.onClose(ends);
        body.start(sink);
      },
    },
  };
}
