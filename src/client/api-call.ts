// Sends one request to the API server and decodes the JSON response; failures become ApiErrors.
import { ApiError, failure, hintHeader, type Status } from '../meta/api-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { parseWarnings } from './warnings.ts';

export type ApiCaller = {
  readonly transport: Transport;
  /** The part before the first slash is the default field manager of writes. */
  readonly userAgent: string;
  /** Called with each warning of the server. */
  readonly warn?: (text: string) => void;
};

export type ApiCall = Pick<TransportRequest, 'method' | 'path' | 'signal'> & {
  readonly accept?: string;
  readonly contentType?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
};

export async function callApi(caller: ApiCaller, call: ApiCall): Promise<unknown> {
  const response = await openCall(caller, call);
  const text = await readText(response.body);
  return text === '' ? undefined : JSON.parse(text);
}

/** Returns the response as a stream; throws an ApiError on status 400 and above. */
export async function openCall(caller: ApiCaller, call: ApiCall): Promise<TransportResponse> {
  const { accept = 'application/json', contentType = 'application/json', body } = call;
  const response = await caller.transport.send({
    method: call.method,
    path: call.path,
    headers: {
      accept,
      'user-agent': caller.userAgent,
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  if (caller.warn !== undefined) {
    for (const text of parseWarnings(response.headers.warning)) caller.warn(text);
  }
  if (response.status < 400) return response;
  const hint = response.headers[hintHeader];
  const text = await readText(response.body);
  throw toApiError(response.status, text, typeof hint === 'string' ? hint : undefined);
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Servers and proxies before them also answer with plain text instead of a Status. */
export function toApiError(code: number, text: string, hint?: string): ApiError {
  const status = parseStatus(text);
  const options = hint === undefined ? {} : { hint };
  if (status !== undefined) {
    return new ApiError({ ...status, code: status.code ?? code }, options);
  }
  const { reason, message } = generic(code);
  return failure({
    code,
    ...(reason === undefined ? {} : { reason }),
    message: message ?? (text.trim() || `the server answered with status ${code}`),
  });
}

function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isStatus =
      typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
    return isStatus ? (value as Status) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** client-go's messages for responses without a Status. */
function generic(code: number): { readonly reason?: string; readonly message?: string } {
  switch (code) {
    case 401:
      return {
        reason: 'Unauthorized',
        message: 'the server has asked for the client to provide credentials',
      };
    case 404:
      return { reason: 'NotFound', message: 'the server could not find the requested resource' };
    case 405:
      return {
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      };
    case 429:
      return { reason: 'TooManyRequests' };
    case 503:
      return {
        reason: 'ServiceUnavailable',
        message: 'the server is currently unable to handle the request',
      };
    default:
      return code >= 500 ? { reason: 'InternalError' } : {};
  }
}
