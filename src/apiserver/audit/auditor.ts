// Writes down who did what: begins with a request, learns what becomes of it, and hands lines to the log. A request
// never waits for the log; lines for which there is no room are dropped and counted.
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
  /** Absent when the proof was no good. */
  readonly user: User | undefined;
  readonly auditId: string;
  readonly traceId: string;
};

export type Auditor = {
  /** Undefined when the policy does not want to know. */
  readonly begin: (arrival: Arrival) => AuditedRequest | undefined;
};

export type AuditedRequest = {
  /** To go on with: what it reads of the body is noted, if the policy wants it. */
  readonly request: ApiRequest;
  readonly actsAs: (user: User) => void;
  readonly decided: (decision: AccessDecision) => void;
  /** Says more about the request than its fields do. */
  readonly annotate: (key: string, value: string) => void;
  /** The answer to go on with; of a stream also the end is noted. */
  readonly answered: (outcome: Outcome) => ApiResponse;
};

export type Outcome = {
  readonly response: ApiResponse;
  /** Of an error. */
  readonly status?: Status;
  /** The server did not expect this. */
  readonly isPanic?: boolean;
};

export function createAuditor({ policy, log, metrics, now }: AuditorOptions): Auditor {
  const wishFor = createPolicyMatcher(policy);
  const counters = createCounters(metrics);
  return {
    begin(arrival) {
      const { info: asked, user } = arrival;
      const wish = wishFor({ user, asked });
      counters.levels.add({ level: wish.level });
      if (wish.level === 'None') return undefined;
      const write = (event: object): void => {
        counters.events.add();
        log.write(`${JSON.stringify(event)}\n`);
      };
      return followRequest(arrival, wish, { now, write });
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
      help: 'Requests by the level at which the policy wants them.',
    }),
  };
}

type Pen = { readonly now: () => number; readonly write: (event: object) => void };

/** Annotations under which Kubernetes says what access control decided, and ours for the trace. */
const decisionKey = 'authorization.k8s.io/decision';
const reasonKey = 'authorization.k8s.io/reason';
const traceKey = 'fairlead.dev/trace-id';

function followRequest(arrival: Arrival, wish: RequestAudit, pen: Pen): AuditedRequest {
  const { request, info, user, auditId, traceId } = arrival;
  const receivedAt = pen.now();
  const annotations: Record<string, string> = { [traceKey]: traceId };
  const body = { bytes: new Uint8Array() };
  let impersonated: User | undefined;
  const known = {
    level: wish.level,
    auditId,
    requestUri: request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path,
    info,
    user,
    sourceIps: sourceIps(request),
    userAgent: header(request, 'user-agent') ?? '',
    receivedAt,
  };
  const note = (stage: AuditStage, more: Partial<EventParts> = {}): void => {
    if (wish.omitStages.includes(stage)) return;
    const stageAt = pen.now();
    pen.write(auditEvent({ ...known, stage, stageAt, impersonated, annotations, ...more }));
  };
  note('RequestReceived');
  return {
    request: wantsBody(wish, info) ? noting(request, body) : request,
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
      const said = {
        answer: { code: response.status, status },
        ...objects(wish, { request, body: body.bytes, response }),
      };
      if (isStream(response.body) || isTunnel(response.body)) return noteEnd(response, note, said);
      note(isPanic ? 'Panic' : 'ResponseComplete', said);
      return response;
    },
  };
}

/** What is created may be named only in its body. */
function wantsBody({ level }: RequestAudit, info: RequestInfo): boolean {
  if (reaches(level, 'Request')) return true;
  return info.kind === 'resource' && info.verb === 'create' && info.name === '';
}

function noting(request: ApiRequest, noted: { bytes: Uint8Array }): ApiRequest {
  return {
    ...request,
    async body() {
      noted.bytes = await request.body();
      return noted.bytes;
    },
  };
}

type Bodies = {
  readonly request: ApiRequest;
  readonly body: Uint8Array;
  readonly response: ApiResponse;
};

function objects(wish: RequestAudit, { request, body, response }: Bodies): Partial<EventParts> {
  const shown = (object: unknown): unknown =>
    wish.omitManagedFields ? withoutManagedFields(object) : object;
  const contentType = header(request, 'content-type') ?? '';
  return {
    ...(body.length === 0
      ? {}
      : { requestObject: shown(bodyObject({ bytes: body, contentType })) }),
    ...(reaches(wish.level, 'RequestResponse')
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

function noteEnd(response: ApiResponse, note: Note, said: Partial<EventParts>): ApiResponse {
  const { body } = response;
  const begins = (): void => note('ResponseStarted', said);
  const ends = (): void => note('ResponseComplete', said);
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
