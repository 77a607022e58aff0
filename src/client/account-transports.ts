// Requests as service accounts, each with a token of its own that is asked for when it is needed and renewed before it ends: as
// kube-controller-manager does with --use-service-account-credentials, so that a server's log and its roles tell controllers apart.
import type { Clock } from '../host/clock.ts';
import { isAlreadyExists, isNotFound } from '../meta/api-error.ts';
import type { Log } from '../observe/log.ts';
import { type ApiCaller, callApi } from './api-call.ts';
import { backOffMs } from './back-off.ts';
import { type ResourceNames, resourcePath } from './resource.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export type AccountTransportsOptions = {
  /** Who may create the accounts and their tokens. */
  readonly caller: ApiCaller;
  /** Of the accounts. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
};

/** What is sent through it is sent as that account. */
export type AccountTransports = (account: string) => Transport;

/** As upstream asks; a server may give less or more. */
const tokenSeconds = 3600;
/** Upstream's leeway: the last fifth is for trying again. */
const renewAfter = 0.8;
/** Between tries to get a token; whoever asks in between is told of the last failure at once. */
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
    // The account was deleted, or the server has new keys: only a new token can tell.
    for await (const _ of response.body) {
      // Read to its end, so that the connection is free again.
    }
    tokens.forget(token);
    return transport.send({ ...request, token: await tokens.current() });
  };
  return { send, close: () => Promise.resolve() };
}

type Token = { readonly value: string; readonly renewAt: number; readonly endsAt: number };

type TokenSource = {
  /** Throws when there is none, and none to be had. */
  readonly current: () => Promise<string>;
  /** It is not taken any more. */
  readonly forget: (value: string) => void;
};

function createTokenSource(
  { caller, namespace, clock, log }: AccountTransportsOptions,
  account: string,
): TokenSource {
  let token: Token | undefined;
  let asking: Promise<string> | undefined;
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
      log[level]('no token of the service account, will retry', { account, error: String(error) });
      return usable(error);
    }
  };
  /** The token that is there serves until its end, whatever became of its renewal. */
  const usable = (error: unknown): string => {
    if (token !== undefined && clock.now() < token.endsAt) return token.value;
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot act as service account "${namespace}/${account}": ${text}`, {
      cause: error,
    });
  };
  return {
    async current() {
      if (token !== undefined && clock.now() < token.renewAt) return token.value;
      if (asking === undefined && failed !== undefined && clock.now() < failed.until)
        return usable(failed.error);
      asking ??= renew().finally(() => {
        asking = undefined;
      });
      return asking;
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

/** By the server's own word on how long it lasts: clocks may differ. */
async function requestToken(
  caller: ApiCaller,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  now: number,
): Promise<Token> {
  const ask = (): Promise<unknown> =>
    callApi(caller, {
      method: 'POST',
      path: resourcePath(accountNames, { namespace, name, subresource: 'token' }),
      body: {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        spec: { expirationSeconds: tokenSeconds },
      },
    });
  const reply = (await ask().catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    await createAccount(caller, { namespace, name });
    return ask();
  })) as TokenReply;
  const value = reply.status?.token;
  if (!value) throw new Error('the server answered without a token');
  const lifeMs = (reply.spec?.expirationSeconds ?? tokenSeconds) * 1000;
  return { value, renewAt: now + lifeMs * renewAfter, endsAt: now + lifeMs };
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
