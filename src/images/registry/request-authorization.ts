// Credentials in the form that a registry demands: Basic, or a token of its token server (github.com/distribution/distribution, docs/spec/auth).
import { goQuote } from '../../schema/go-quote.ts';
import type { RegistryLogin } from '../keyring.ts';
import type { Challenge } from './parse-challenge.ts';
import { RegistryError } from './registry-error.ts';
import {
  type Connections,
  type RegistryRequest,
  type RegistryResponse,
  readBody,
  refuseMetadataService,
  sendRequest,
} from './send-request.ts';

export type AuthorizationRequest = {
  readonly challenge: Challenge;
  readonly login: RegistryLogin | undefined;
  /** Without one in the challenge. */
  readonly scope: string;
  /** How the registry itself is reached. */
  readonly registry: Pick<RegistryRequest, 'isInsecure' | 'certificateAuthority' | 'signal'> & {
    readonly isPlain: boolean;
  };
};

type BearerChallenge = Extract<Challenge, { readonly kind: 'bearer' }>;

/** Tokens of registries have some thousand characters; headers have room for 16 KiB. */
const maxTokenLength = 15_000;
const maxAnswerBytes = 2 ** 20;
const maxScopeLength = 2000;

/** The value of the Authorization header. Throws RegistryError, `denied` where the credentials do not fit. */
export async function requestAuthorization(
  connections: Connections,
  request: AuthorizationRequest,
): Promise<string> {
  const { challenge, login } = request;
  if (challenge.kind === 'bearer') {
    if (login?.kind === 'registry') return bearer(login.registryToken);
    return bearer(await requestToken(connections, challenge, request));
  }
  if (login?.kind === 'password') return basic(login.username, login.password);
  const why = login === undefined ? 'no credentials match it' : 'only a token does';
  throw new RegistryError('denied', `the registry wants a user name and a password, and ${why}`);
}

const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function bearer(token: string): string {
  if (token.length > maxTokenLength || !/^[\x21-\x7e]+$/.test(token))
    throw new RegistryError('invalid', 'the token is not one that fits into a header');
  return `Bearer ${token}`;
}

async function requestToken(
  connections: Connections,
  challenge: BearerChallenge,
  { login, scope, registry }: AuthorizationRequest,
): Promise<string> {
  const realm = checkRealm(challenge.realm, registry.isPlain);
  const { isPlain: _, ...reached } = registry;
  const parameters = new URLSearchParams({
    ...(challenge.service === undefined ? {} : { service: challenge.service }),
    scope: (challenge.scope ?? scope).slice(0, maxScopeLength),
  });
  const sent: RegistryRequest =
    login?.kind === 'identity'
      ? {
          ...{ ...reached, method: 'POST', url: realm.href },
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `${parameters}&${new URLSearchParams({
            ...{ grant_type: 'refresh_token', client_id: 'fairlead' },
            refresh_token: login.identityToken,
          })}`,
        }
      : {
          ...{ ...reached, method: 'GET', url: withParameters(realm, parameters, login) },
          headers:
            login?.kind === 'password'
              ? { authorization: basic(login.username, login.password) }
              : {},
        };
  return tokenOf(await sendRequest(connections, sent), connections.stallMs);
}

function checkRealm(realm: string, isPlain: boolean): URL {
  if (!URL.canParse(realm))
    throw new RegistryError(
      'invalid',
      `the registry refers to ${goQuote(realm)} for tokens, which is not a URL`,
    );
  const url = new URL(realm);
  if (url.protocol !== 'https:' && !(isPlain && url.protocol === 'http:'))
    throw new RegistryError(
      'invalid',
      `the registry refers to ${url.protocol}//${url.host} for tokens, want https`,
    );
  refuseMetadataService(url);
  return url;
}

function withParameters(
  realm: URL,
  parameters: URLSearchParams,
  login: RegistryLogin | undefined,
): string {
  const url = new URL(realm);
  for (const [name, value] of parameters) url.searchParams.set(name, value);
  if (login?.kind === 'password') url.searchParams.set('account', login.username);
  return url.href;
}

async function tokenOf(response: RegistryResponse, stallMs: number): Promise<string> {
  const { status, title } = response;
  const body = await readBody(response, { maxBytes: maxAnswerBytes, stallMs });
  if (status !== 200) {
    const reason = status >= 500 ? 'failing' : status === 429 ? 'busy' : 'denied';
    throw new RegistryError(
      reason,
      `failed to authorize: failed to fetch oauth token: unexpected status from ${title}: ${status}`,
    );
  }
  const value = parsed(body);
  const token = value.token ?? value.access_token;
  if (typeof token !== 'string' || token === '')
    throw new RegistryError(
      'invalid',
      `failed to fetch oauth token: ${title}: no token in the answer`,
    );
  return token;
}

function parsed(body: Buffer): { readonly token?: unknown; readonly access_token?: unknown } {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // The caller reports that there is no token.
    return {};
  }
}
