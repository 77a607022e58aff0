// Sends requests as service accounts, each with its own token, requested on first use and renewed before it expires. This is what
// kube-controller-manager does with --use-service-account-credentials: audit logs and RBAC tell the controllers apart.
import type { Clock } from '../host/clock.ts';
import { isAlreadyExists, isNotFound } from '../meta/api-error.ts';
import type { Log } from '../observe/log.ts';
import { type ApiCaller, callApi } from './api-call.ts';
import { backOffMs } from './back-off.ts';
import { type ResourceNames, resourcePath } from './resource.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export type AccountTransportsOptions = {
  /** Must be allowed to create service accounts and their tokens. */
  readonly caller: ApiCaller;
  /** The namespace of the service accounts. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
};

/** Returns the transport whose requests are authenticated as the account. */
export type AccountTransports = (account: string) => Transport;

/** What upstream requests; the server may grant less or more. */
const tokenSeconds = 3600;
/** As upstream: the last fifth of a token's life is left for retries. */
const renewAfter = 0.8;
/** Between attempts to get a token; requests made in between fail at once with the last error. */
const tokenBackOff = { firstMs: 500, maxMs: 30_000 };
const failuresBetweenWarnings = 20;

const accountNames: ResourceNames = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

export function createAccountTransports(options: AccountTransportsOptions): AccountTransports {
  const transports = new Map<string, Transport>();
  return (account) => {
    const known = transports.get(account);
    if (known !== undefined) return known;
    const transport = accountTransport(options, account);
    transports.set(account, transport);
    return transport;
  };
}

function accountTransport(options: AccountTransportsOptions, account: string): Transport {
  const { transport } = options.caller;
  const tokens = createTokenSource(options, account);
  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    const token = await tokens.current();
    const response = await transport.send({ ...request, token });
    if (response.status !== 401) return response;
    // The account was recreated or the signing keys were rotated: try once more with a new token.
    for await (const _ of response.body) {
      // Drain the body to free the connection.
    }
    tokens.forget(token);
    return transport.send({ ...request, token: await tokens.current() });
  };
  return { send, close: () => Promise.resolve() };
}

type Token = { readonly value: string; readonly renewAt: number; readonly expiresAt: number };

type TokenSource = {
  /** Throws when there is no valid token and none can be requested. */
  readonly current: () => Promise<string>;
  /** Discards a token that the server rejected. */
  readonly forget: (value: string) => void;
};

function createTokenSource(
  { caller, namespace, clock, log }: AccountTransportsOptions,
  account: string,
): TokenSource {
  let token: Token | undefined;
  let pending: Promise<string> | undefined;
  let failures = 0;
  let failed: { readonly error: unknown; readonly until: number } | undefined;

  const renew = async (): Promise<string> => {
    try {
      token = await requestToken(caller, { namespace, name: account }, clock.now());
      failures = 0;
      failed = undefined;
      return token.value;
    } catch (error) {
      failed = { error, until: clock.now() + backOffMs(tokenBackOff, failures) };
      const level = failures % failuresBetweenWarnings === 0 ? 'warn' : 'debug';
      failures += 1;
      log[level]('Failed to request a service account token, retrying', {
        account,
        error: String(error),
      });
      return currentOrThrow(error);
    }
  };
  /** A token stays in use until it expires, even when its renewal failed. */
  const currentOrThrow = (error: unknown): string => {
    if (token !== undefined && clock.now() < token.expiresAt) return token.value;
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot act as service account "${namespace}/${account}": ${text}`, {
      cause: error,
    });
  };
  return {
    async current() {
      if (token !== undefined && clock.now() < token.renewAt) return token.value;
      if (pending === undefined && failed !== undefined && clock.now() < failed.until)
        return currentOrThrow(failed.error);
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    forget(value) {
      if (token?.value === value) token = undefined;
    },
  };
}

type TokenReply = {
  readonly spec?: { readonly expirationSeconds?: number };
  readonly status?: { readonly token?: string };
};

/** Computes the expiry from the granted lifetime and not from a timestamp: clocks may differ. */
async function requestToken(
  caller: ApiCaller,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  now: number,
): Promise<Token> {
  const createToken = (): Promise<unknown> =>
    callApi(caller, {
      method: 'POST',
      path: resourcePath(accountNames, { namespace, name, subresource: 'token' }),
      body: {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        spec: { expirationSeconds: tokenSeconds },
      },
    });
  const reply = (await createToken().catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    await createAccount(caller, { namespace, name });
    return createToken();
  })) as TokenReply;
  const value = reply.status?.token;
  if (!value) throw new Error('the server answered without a token');
  const lifeMs = (reply.spec?.expirationSeconds ?? tokenSeconds) * 1000;
  return { value, renewAt: now + lifeMs * renewAfter, expiresAt: now + lifeMs };
}

async function createAccount(
  caller: ApiCaller,
  metadata: { readonly namespace: string; readonly name: string },
): Promise<void> {
  try {
    await callApi(caller, {
      method: 'POST',
      path: resourcePath(accountNames, { namespace: metadata.namespace }),
      body: { kind: 'ServiceAccount', apiVersion: 'v1', metadata },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
