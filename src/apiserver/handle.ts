// One request, its steps in order: authentication, flow control, authorization, dispatch, the response or the error.
import { randomUUID } from 'node:crypto';
import { type ApiError, hintHeader, internal, isApiError, type Status } from '../meta/api-error.ts';
import { cutText } from '../meta/cut-text.ts';
import { beginWork, endWork } from '../observe/current-work.ts';
import type { Log } from '../observe/log.ts';
import { isStoreError } from '../storage/store-error.ts';
import { type Authenticator, anonymous } from './access/authenticate.ts';
import type { Authorizer } from './access/authorize.ts';
import { forbiddenAccess } from './access/forbidden.ts';
import { impersonate } from './access/impersonate.ts';
import { anonymousUser } from './access/known-users.ts';
import { withoutSource, withSourceAddress } from './access/source-address.ts';
import type { User } from './access/user.ts';
import type { AuditedRequest, Auditor } from './audit/auditor.ts';
import type { Dispatch } from './dispatch.ts';
import { answerStatus } from './encode/status.ts';
import { accessOf } from './history/kept-resources.ts';
import { createDeadlines, type Deadline, type Deadlines } from './limits/deadlines.ts';
import { type Flow, NoSeat } from './limits/fair-queue.ts';
import { followStream } from './limits/follow-stream.ts';
import { type Gate, isCostly, isLongRunning, type Seats } from './limits/gate.ts';
import { paceBody } from './limits/pace-body.ts';
import { requestedTimeout } from './limits/request-timeout.ts';
import { weightOfWatch } from './limits/stream-count.ts';
import { timedOut, tooManyRequests, tooManyWatches } from './limits/too-many-requests.ts';
import { type ApiRequest, type ApiResponse, header, isStream, isTunnel } from './message.ts';
import type { RequestMetrics, RouteMetrics } from './metrics.ts';
import { storeToApiError } from './objects/store-to-api-error.ts';
import { describeRequest } from './request/describe-request.ts';
import { parseRequest, type RequestInfo } from './request/request-info.ts';
import { formatTraceparent, parseTraceparent, traceIdOf } from './request/trace-context.ts';
import { warningHeaders } from './request/warnings.ts';
import { convertBody } from './yaml/convert-body.ts';

export type HandlerParts = {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly dispatch: Dispatch;
  readonly metrics: RequestMetrics;
  readonly gate: Gate;
  /** 0 is no limit. */
  readonly requestTimeoutMs: number;
  /** Absent: no audit log. */
  readonly auditor?: Auditor;
  /** With other writers: resolves when the request sees everything that was acknowledged before it. */
  readonly catchUp?: (request: ApiRequest, info: RequestInfo) => Promise<void> | undefined;
  readonly log: Log;
};

export type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** A request that is not answered yet. */
type Pending = {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly route: RouteMetrics;
  readonly startedAt: number;
  readonly resolve: (response: ApiResponse) => void;
  audited: AuditedRequest | undefined;
  user: User | undefined;
  warnings: string[] | undefined;
  isAnswered: boolean;
  deadline: Deadline<Pending> | undefined;
  /** For a client with a shorter timeout than the server's. */
  ownDeadline: NodeJS.Timeout | undefined;
};

type Work = HandlerParts & { readonly deadlines: Deadlines<Pending> };

export function createHandler(parts: HandlerParts): Handler {
  const deadlines = createDeadlines<Pending>({
    afterMs: parts.requestTimeoutMs,
    expire: (pending) => expire(work, pending),
  });
  const work: Work = { ...parts, deadlines };
  return (request) =>
    new Promise((resolve) => {
      const info = parseRequest(request.method, request.path, request.query);
      const route = parts.metrics.of(info);
      route.inFlight.value += 1;
      void respond(work, {
        request,
        info,
        route,
        startedAt: performance.now(),
        resolve,
        audited: undefined,
        user: undefined,
        warnings: undefined,
        isAnswered: false,
        deadline: undefined,
        ownDeadline: undefined,
      });
    });
}

/** Never rejects. A request that timed out is answered already, but keeps its seat until its work ends. */
async function respond(work: Work, pending: Pending): Promise<void> {
  const { request, info, route } = pending;
  let seats: Seats | undefined;
  let seat: Flow | undefined;
  const begun = beginWork(pending, describeRequest);
  try {
    const caughtUp = catchUpFor(work, pending);
    if (caughtUp !== undefined) await caughtUp;
    const user = identify(work, pending);
    seats = work.gate.seatsFor(user, info, route.isMutating);
    if (seats === undefined) work.gate.metrics.dispatched('exempt');
    else {
      const acquired = seats.queue.acquire(user.name, request.signal);
      seat = acquired instanceof Promise ? await acquired : acquired;
      work.gate.metrics.dispatched(seats.level);
    }
    checkAccess(work, pending, user);
    if (info.verb === 'watch' && seats !== undefined) checkWatches(work.gate, user, info);
    const costly = isCostly(info) ? work.gate.waitForCostlySlot(user, request.signal) : undefined;
    if (costly !== undefined) await costly;
    const response = await answer(work, pending, user);
    finish(work, pending, { response: await converted(response) });
  } catch (error) {
    if (error instanceof NoSeat && seats !== undefined) {
      work.gate.metrics.rejected(seats.level, error.reason);
      route.terminated(429);
    }
    finish(work, pending, outcomeOf(work, pending, error));
  } finally {
    endWork(begun);
    if (seat !== undefined) seats?.queue.release(seat);
  }
}

/** Large responses in YAML or indented JSON are written on another thread. */
function converted(response: ApiResponse): ApiResponse | Promise<ApiResponse> {
  return response.convert === undefined ? response : convertBody(response);
}

/**
 * Catching up costs a quorum read, which clients without valid credentials must not cause, unless anonymous clients may make
 * the request. All others are refused from this server's own state.
 */
function catchUpFor(work: Work, { request, info }: Pending): Promise<void> | undefined {
  const { authenticator, authorizer, catchUp } = work;
  if (catchUp === undefined) return undefined;
  const isWorthIt =
    authenticator.recognizes(request) || authorizer.authorize(anonymous, info).allowed;
  return isWorthIt ? catchUp(request, info) : undefined;
}

function identify(work: Work, pending: Pending): User {
  const { request, info } = pending;
  const { authenticator, authorizer, auditor } = work;
  let authenticated: User;
  try {
    authenticated = withSourceAddress(authenticator.authenticate(request), request.peer);
    if (authenticated.name !== anonymousUser) request.authenticated?.(authenticated);
  } catch (error) {
    if (auditor !== undefined) pending.audited = beginAudit(auditor, pending, undefined);
    throw error;
  }
  if (auditor !== undefined) pending.audited = beginAudit(auditor, pending, authenticated);
  // A client that impersonates a node does not connect from the node's address.
  const user = withoutSource(
    impersonate({ request, user: authenticated, attributes: accessOf(info), authorizer }),
    authenticated,
  );
  if (user !== authenticated) pending.audited?.actsAs(user);
  pending.user = user;
  return user;
}

function beginAudit(
  auditor: Auditor,
  { request, info }: Pending,
  user: User | undefined,
): AuditedRequest | undefined {
  const { auditId = randomUUID() } = request;
  const traceId = traceIdOf(header(request, 'traceparent'), auditId);
  return auditor.begin({ request, info, user, auditId, traceId });
}

function checkAccess({ authorizer }: Work, { info, audited }: Pending, user: User): void {
  const access = accessOf(info);
  const decision = authorizer.authorize(user, access);
  audited?.decided(decision);
  if (!decision.allowed) throw forbiddenAccess(user, access, decision.reason);
}

function checkWatches({ watches }: Gate, { name }: User, info: RequestInfo): void {
  if (!watches.hasRoom(name, weightOf(info))) throw tooManyWatches(name, watches.limit);
}

const weightOf = (info: RequestInfo): number =>
  info.kind === 'resource' ? weightOfWatch(info) : 1;

function answer(work: Work, pending: Pending, user: User): ApiResponse | Promise<ApiResponse> {
  const { dispatch, deadlines, gate } = work;
  const { request, info, audited } = pending;
  const isBounded = !isLongRunning(info);
  const clientTimeoutMs =
    isBounded && request.query.size > 0 ? requestedTimeout(request.query) : undefined;
  const answering = dispatch({
    request: paceBody(audited?.request ?? request, gate, user),
    info,
    user,
    warn(text) {
      pending.warnings ??= [];
      if (pending.warnings.length < maxWarnings) pending.warnings.push(cutText(text));
    },
    annotate: (key, value) => audited?.annotate(key, value),
  });
  if (answering instanceof Promise && isBounded) {
    pending.deadline = deadlines.add(pending);
    // A longer one than the server's never fires; upstream does the work even where the time is over already.
    if (clientTimeoutMs !== undefined && clientTimeoutMs > 0 && clientTimeoutMs < maxTimerMs) {
      pending.ownDeadline = setTimeout(expire, clientTimeoutMs, work, pending).unref();
    }
  }
  return answering;
}

/** Headers have room for some ten of them; a body can cause one with each of its fields. */
const maxWarnings = 100;

/** Node.js timers cannot be longer. */
const maxTimerMs = 2 ** 31;

function expire(work: Work, pending: Pending): void {
  if (pending.isAnswered) return;
  pending.route.terminated(504);
  finish(work, pending, errorOutcome(pending.request, timedOut()));
}

type Outcome = {
  readonly response: ApiResponse;
  readonly status?: Status;
  readonly isPanic?: boolean;
};

/** Once for each request: what is computed after the timeout is dropped. */
function finish({ gate, deadlines }: Work, pending: Pending, outcome: Outcome): void {
  if (pending.isAnswered) return;
  pending.isAnswered = true;
  if (pending.deadline !== undefined) deadlines.remove(pending.deadline);
  if (pending.ownDeadline !== undefined) clearTimeout(pending.ownDeadline);
  const { request, info, route, audited, warnings, user } = pending;
  let { response } = outcome;
  const { body } = response;
  const isStreamed = typeof body === 'object' && (isStream(body) || isTunnel(body));
  route.inFlight.value -= 1;
  const seconds = (performance.now() - pending.startedAt) / 1000;
  route.answered(response.status, seconds, isStreamed ? 0 : body.length);
  if (warnings !== undefined) response = withWarnings(response, warnings);
  if (request.headers.traceparent !== undefined) response = withTrace(request, response);
  if (audited !== undefined) response = audited.answered({ ...outcome, response });
  if (isStreamed) {
    const trackWatch =
      info.verb === 'watch' ? (name: string) => gate.watches.add(name, weightOf(info)) : undefined;
    response = followStream(response, {
      route,
      ...(trackWatch && user ? { trackWatch, user } : {}),
    });
  }
  pending.resolve(response);
}

function outcomeOf({ log }: Work, pending: Pending, error: unknown): Outcome {
  const { request } = pending;
  if (isApiError(error)) {
    return withHint(errorOutcome(request, error), error.hint);
  }
  if (isStoreError(error)) return errorOutcome(request, storeToApiError(error));
  if (error instanceof NoSeat) return errorOutcome(request, tooManyRequests());
  const { method, path, auditId = '' } = request;
  log.error('Request failed', {
    method,
    path,
    auditID: auditId,
    traceID: traceIdOf(header(request, 'traceparent'), auditId),
    error: error instanceof Error ? error.stack : String(error),
  });
  const unexpected = internal('unexpected server error; see the log of the server');
  return { ...errorOutcome(request, unexpected), isPanic: true };
}

const maxHint = 1000;

/** Hints quote clients: only characters that a header can hold. */
const printable = (text: string): string => text.slice(0, maxHint).replace(/[^ -~]/g, '?');

function withHint(outcome: Outcome, hint: string | undefined): Outcome {
  if (hint === undefined) return outcome;
  const { response } = outcome;
  const headers = { ...response.headers, [hintHeader]: printable(hint) };
  return { ...outcome, response: { ...response, headers } };
}

function errorOutcome(request: ApiRequest, { status }: ApiError): Outcome {
  const response = answerStatus(request, status.code, status);
  const retry = status.details?.retryAfterSeconds;
  if (retry === undefined) return { response, status };
  const headers = { ...response.headers, 'retry-after': String(retry) };
  return { response: { ...response, headers }, status };
}

function withWarnings(response: ApiResponse, warnings: readonly string[]): ApiResponse {
  const warning = warningHeaders(warnings);
  if (warning.length === 0) return response;
  return { ...response, headers: { ...response.headers, warning } };
}

function withTrace(request: ApiRequest, response: ApiResponse): ApiResponse {
  const trace = parseTraceparent(header(request, 'traceparent') ?? '');
  if (trace === undefined) return response;
  const headers = { ...response.headers, traceparent: formatTraceparent(trace) };
  return { ...response, headers };
}
