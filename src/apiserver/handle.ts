// One request, its steps in order: who asks, may they, what is asked, the answer or the error.
import { type ApiError, failure, internal, isApiError } from '../meta/api-error.ts';
import type { Log } from '../observe/log.ts';
import { isStoreError } from '../storage/store-error.ts';
import type { Authenticator } from './access/authenticate.ts';
import type { Authorizer } from './access/authorize.ts';
import { forbiddenAccess } from './access/forbidden.ts';
import { impersonate } from './access/impersonate.ts';
import { answerStatus } from './encode/status.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import type { RequestMetrics } from './metrics.ts';
import { parseRequest, type RequestInfo } from './request-info.ts';
import { storeToApiError } from './store-to-api-error.ts';
import type { AccessAttributes, User } from './user.ts';
import { warningHeaders } from './warnings.ts';

export type Dispatch = (call: {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: User;
  readonly warn: (text: string) => void;
}) => Promise<ApiResponse> | ApiResponse;

export type HandlerParts = {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly dispatch: Dispatch;
  readonly metrics: RequestMetrics;
  readonly log: Log;
};

export type Handler = (request: ApiRequest) => Promise<ApiResponse>;

export function createHandler(parts: HandlerParts): Handler {
  const { authorizer, metrics } = parts;
  return async (request) => {
    const info = parseRequest(request.method, request.path, request.query);
    const finished = metrics.started(info);
    const warnings = new Set<string>();
    try {
      const asking = parts.authenticator.authenticate(request);
      const user = impersonate({ request, user: asking, attributes: info, authorizer });
      checkAccess(authorizer, user, info);
      const response = await parts.dispatch({
        request,
        info,
        user,
        warn: (text) => warnings.add(text),
      });
      finished(response.status);
      return withWarnings(response, warnings);
    } catch (error) {
      const answer = errorResponse(request, toApiError(error, request, parts.log));
      finished(answer.status);
      return withWarnings(answer, warnings);
    }
  };
}

function checkAccess(authorizer: Authorizer, user: User, attributes: AccessAttributes): void {
  const { allowed, reason } = authorizer.authorize(user, attributes);
  if (!allowed) throw forbiddenAccess(user, attributes, reason);
}

function toApiError(error: unknown, { method, path }: ApiRequest, log: Log): ApiError {
  if (isApiError(error)) return error;
  if (isStoreError(error)) return storeToApiError(error);
  log.error('request failed', {
    method,
    path,
    error: error instanceof Error ? error.stack : String(error),
  });
  return internal('the server met an unexpected condition; its log says more');
}

function errorResponse(request: ApiRequest, { status }: ApiError): ApiResponse {
  const answer = answerStatus(request, status.code, status);
  const retry = status.details?.retryAfterSeconds;
  if (retry === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(retry) } };
}

function withWarnings(response: ApiResponse, warnings: ReadonlySet<string>): ApiResponse {
  if (warnings.size === 0) return response;
  const warning = warningHeaders([...warnings]);
  if (warning.length === 0) return response;
  return { ...response, headers: { ...response.headers, warning } };
}

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
