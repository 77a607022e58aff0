// One registry or mirror during one pull: which scheme it speaks, what it has been shown as credentials, and how often it is tried.
import { STATUS_CODES } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RegistryLogin } from '../keyring.ts';
import type { Endpoint } from './endpoints.ts';
import { parseChallenge } from './parse-challenge.ts';
import { RegistryError, speaksNoTls } from './registry-error.ts';
import { requestAuthorization } from './request-authorization.ts';
import { type Connections, type RegistryResponse, sendRequest } from './send-request.ts';

export type OpenEndpoint = {
  readonly host: string;
  /** Resolves to an answer 2xx. Throws RegistryError. `path` is below the repository. */
  readonly get: (
    path: string,
    headers: Readonly<Record<string, string>>,
    method?: 'GET' | 'HEAD',
  ) => Promise<RegistryResponse>;
};

export type EndpointOptions = {
  readonly endpoint: Endpoint;
  readonly login: RegistryLogin | undefined;
  /** `team/app`. */
  readonly repository: string;
  readonly connections: Connections;
  readonly signal: AbortSignal;
};

/** Of answers that say «later»; the caller has a back-off of its own. */
const maxAttempts = 3;
const firstDelayMs = 500;
/** Longer than this the registry wants to be left alone: the caller's back-off does it. */
const maxDelayMs = 20_000;

type State = { base: string; authorization?: string };

export function openEndpoint(options: EndpointOptions): OpenEndpoint {
  const state: State = { base: options.endpoint.base };
  return {
    host: options.endpoint.host,
    get: async (path, headers, method = 'GET') => {
      for (let attempt = 1; ; attempt += 1) {
        const response = await getAuthorized(options, state, { path, headers, method });
        const { status, title } = response;
        if (status >= 200 && status < 300) return response;
        response.body.destroy();
        const delayMs = delayOf(response, attempt);
        if (delayMs === undefined)
          throw new RegistryError(
            reasonOf(status),
            `unexpected status from ${title}: ${status} ${STATUS_CODES[status] ?? ''}`.trim(),
          );
        await sleep(delayMs, undefined, { signal: options.signal });
      }
    },
  };
}

type EndpointCall = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method: 'GET' | 'HEAD';
};

async function getAuthorized(
  options: EndpointOptions,
  state: State,
  call: EndpointCall,
): Promise<RegistryResponse> {
  const first = await getOnce(options, state, call);
  if (first.status !== 401) return first;
  first.body.destroy();
  const challenge = parseChallenge(first.header('www-authenticate'));
  if (challenge === undefined)
    throw new RegistryError('denied', `unexpected status from ${first.title}: 401 Unauthorized`);
  const { endpoint, login, repository, connections, signal } = options;
  const { isInsecure, certificateAuthority } = endpoint;
  state.authorization = await requestAuthorization(connections, {
    ...{ challenge, login, scope: `repository:${repository}:pull` },
    registry: {
      ...{ isInsecure, signal, isPlain: state.base.startsWith('http:') },
      ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    },
  });
  const second = await getOnce(options, state, call);
  if (second.status !== 401) return second;
  second.body.destroy();
  delete state.authorization;
  throw new RegistryError('denied', deniedText(second));
}

/** As containerd says it. */
function deniedText(response: RegistryResponse): string {
  const challenge = parseChallenge(response.header('www-authenticate'));
  if (challenge?.kind === 'bearer' && challenge.error === 'insufficient_scope')
    return 'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed';
  return `unexpected status from ${response.title}: 401 Unauthorized`;
}

async function getOnce(
  options: EndpointOptions,
  state: State,
  call: EndpointCall,
): Promise<RegistryResponse> {
  try {
    return await send(options, state, call);
  } catch (error) {
    const { endpoint, signal } = options;
    const isRetried = endpoint.isInsecure && state.base.startsWith('https:') && speaksNoTls(error);
    if (!isRetried || signal.aborted) throw error;
    const plain: State = { ...state, base: state.base.replace('https:', 'http:') };
    const response = await send(options, plain, call);
    state.base = plain.base;
    return response;
  }
}

function send(
  { endpoint, connections, signal }: EndpointOptions,
  { base, authorization }: State,
  { path, headers, method }: EndpointCall,
): Promise<RegistryResponse> {
  const { namespace, isInsecure, certificateAuthority } = endpoint;
  const query = namespace === undefined ? '' : `?ns=${encodeURIComponent(namespace)}`;
  return sendRequest(connections, {
    ...{ method, url: `${base}${path}${query}`, isInsecure, signal },
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
  });
}

/** Undefined: not again. */
function delayOf(response: RegistryResponse, attempt: number): number | undefined {
  const { status } = response;
  const isTemporary = status === 429 || status === 500 || (status >= 502 && status <= 504);
  if (!isTemporary || attempt >= maxAttempts) return undefined;
  const seconds = Number(response.header('retry-after') ?? Number.NaN);
  const delayMs = Number.isFinite(seconds)
    ? Math.max(seconds, 0) * 1000
    : firstDelayMs * 2 ** (attempt - 1);
  return delayMs > maxDelayMs ? undefined : delayMs;
}

function reasonOf(status: number): RegistryError['reason'] {
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return 'missing';
  if (status === 429) return 'busy';
  return status >= 500 ? 'failing' : 'invalid';
}
