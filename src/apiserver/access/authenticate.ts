// Identifies the user of a request: the first authenticator that succeeds. To add one, add a line to `requestAuthenticators`.
import { isValidAt } from '../../host/client-certificate.ts';
import { unauthorized } from '../../meta/api-error.ts';
import { type ApiRequest, header, type Peer } from '../message.ts';
import { anonymousUser, authenticatedGroup, unauthenticatedGroup } from './known-users.ts';
import type { User } from './user.ts';
import { webSocketToken } from './web-socket-token.ts';

/** Credentials that were checked: the user, or why they are not valid. */
export type AuthenticationResult =
  | { readonly user: User; readonly audiences?: readonly string[] }
  | {
      readonly error: string;
      /** Signed by this cluster, but the object that it names does not exist here: deleted, or not yet seen from another server. */
      readonly isSignedHere?: boolean;
    };

/** Undefined: not a token of this kind, another authenticator may know it. */
export type TokenAuthenticator = (
  token: string,
  audiences: readonly string[],
) => AuthenticationResult | undefined;

export type Authenticator = {
  /** Throws 401 for invalid credentials; without credentials the user is anonymous. */
  readonly authenticate: (request: ApiRequest) => User;
  /**
   * Whether the credentials are valid, or may be once this server has seen the writes of other servers. Checked before
   * anything costly is done for the request.
   */
  readonly recognizes: (request: ApiRequest) => boolean;
  /** For TokenReview. No audiences means the server's own. */
  readonly authenticateToken: (token: string, audiences: readonly string[]) => AuthenticationResult;
};

type RequestAuthenticator = (request: ApiRequest) => AuthenticationResult | undefined;

const invalidToken = 'invalid bearer token';
export const anonymous: User = { name: anonymousUser, groups: [unauthenticatedGroup] };

export type AuthenticatorOptions = {
  readonly tokens?: readonly TokenAuthenticator[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

export function createAuthenticator({ tokens = [], now }: AuthenticatorOptions): Authenticator {
  const authenticateToken: Authenticator['authenticateToken'] = (token, audiences) => {
    const result = firstSuccess(tokens, (authenticator) => authenticator(token, audiences));
    if (result === undefined) return { error: invalidToken };
    // As upstream's message, where the authenticator of the loopback client fails first.
    return 'error' in result
      ? { ...result, error: `[${invalidToken}, ${result.error}]` }
      : { ...result, user: withAuthenticated(result.user) };
  };

  const requestAuthenticators: readonly RequestAuthenticator[] = [
    localPeer,
    (request) => clientCertificate(request, now()),
    (request) => {
      const token = bearerToken(request) ?? webSocketToken(request);
      return token === undefined ? undefined : authenticateToken(token, []);
    },
  ];

  /** Users that the connection itself authenticates: the same for all its requests. */
  const users = new WeakMap<Peer, User>();

  function authenticate(request: ApiRequest): User {
    const { peer } = request;
    const cached = users.get(peer);
    const { certificate } = peer;
    // A connection may outlive the certificate, so its validity is checked for every request.
    if (cached !== undefined && (certificate === undefined || isValidAt(certificate, now())))
      return cached;
    const own = localPeer(request) ?? clientCertificate(request, now());
    const result =
      own !== undefined && 'user' in own
        ? own
        : firstSuccess(requestAuthenticators, (candidate) => candidate(request));
    if (result === undefined) return anonymous;
    if ('error' in result) throw unauthorized();
    const user = withAuthenticated(result.user);
    if (result === own) users.set(peer, user);
    return user;
  }

  function recognizes(request: ApiRequest): boolean {
    const result = firstSuccess(requestAuthenticators, (candidate) => candidate(request));
    return result !== undefined && ('user' in result || result.isSignedHere === true);
  }

  return { authenticate, recognizes, authenticateToken };
}

/** The first result with a user; a failure counts only when no other authenticator succeeds. */
function firstSuccess<W>(
  candidates: readonly W[],
  run: (candidate: W) => AuthenticationResult | undefined,
): AuthenticationResult | undefined {
  let failed: AuthenticationResult | undefined;
  for (const candidate of candidates) {
    const result = run(candidate);
    if (result !== undefined && 'user' in result) return result;
    failed ??= result;
  }
  return failed;
}

function localPeer({ peer }: ApiRequest): AuthenticationResult | undefined {
  return peer.local === undefined
    ? undefined
    : { user: { name: peer.local.user, groups: peer.local.groups } };
}

/** The common name is the user, organizations are groups. */
function clientCertificate({ peer }: ApiRequest, now: number): AuthenticationResult | undefined {
  const { certificate, untrustedCertificate } = peer;
  if (untrustedCertificate) return { error: 'the client certificate is not one of this server' };
  if (certificate === undefined) return undefined;
  if (!isValidAt(certificate, now)) return { error: 'the client certificate is not valid now' };
  const { commonName, organizations, fingerprint } = certificate;
  return { user: { name: commonName, groups: organizations, extra: credential(fingerprint) } };
}

/** Which certificate the user presented, for reviews and the audit log. */
const credential = (fingerprint: string) => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`],
});

/** Other schemes than Bearer, and an empty token, are ignored. */
function bearerToken(request: ApiRequest): string | undefined {
  const [scheme = '', token = ''] = (header(request, 'authorization') ?? '').trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

function withAuthenticated(user: User): User {
  const { name, groups } = user;
  if (
    name === anonymousUser ||
    groups.includes(authenticatedGroup) ||
    groups.includes(unauthenticatedGroup)
  ) {
    return user;
  }
  return { ...user, groups: [...groups, authenticatedGroup] };
}
