// Who sends a request: the first way of proving it that applies. To add a way, add a line to `waysToProve`.
import { holdsAt } from '../../host/client-certificate.ts';
import { unauthorized } from '../../meta/api-error.ts';
import { type ApiRequest, header, type Peer } from '../message.ts';
import { anonymousUser, authenticatedGroup, unauthenticatedGroup } from './known-users.ts';
import type { User } from './user.ts';
import { webSocketToken } from './web-socket-token.ts';

/** A proof that was looked at: of a user, or no good. */
export type Proof =
  | { readonly user: User; readonly audiences?: readonly string[] }
  | {
      readonly error: string;
      /** This server signed it, but what it names is not there (any more, or yet where several servers write). */
      readonly isOurs?: boolean;
    };

/** Undefined: the token is not of this sort, another may know it. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Proof | undefined;

export type Authenticator = {
  /** Throws 401 when a proof was given and is no good; without any proof the user is anonymous. */
  readonly authenticate: (request: ApiRequest) => User;
  /**
   * Whether the request proves who sends it, or may do so once this server has seen what others wrote. Asked before
   * anything costly is done for it.
   */
  readonly recognizes: (request: ApiRequest) => boolean;
  /** For TokenReview. No audiences means the server's own. */
  readonly authenticateToken: (token: string, audiences: readonly string[]) => Proof;
};

type WayToProve = (request: ApiRequest) => Proof | undefined;

const unknownToken = 'invalid bearer token';
export const anonymous: User = { name: anonymousUser, groups: [unauthenticatedGroup] };

export type AuthenticatorOptions = {
  readonly tokens?: readonly TokenAuthenticator[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

export function createAuthenticator({ tokens = [], now }: AuthenticatorOptions): Authenticator {
  const authenticateToken: Authenticator['authenticateToken'] = (token, audiences) => {
    const proof = firstGood(tokens, (known) => known(token, audiences));
    if (proof === undefined) return { error: unknownToken };
    // Upstream asks its own loopback client's authenticator first, which never knows the token.
    return 'error' in proof
      ? { ...proof, error: `[${unknownToken}, ${proof.error}]` }
      : { ...proof, user: withAuthenticated(proof.user) };
  };

  const waysToProve: readonly WayToProve[] = [
    localPeer,
    (request) => clientCertificate(request, now()),
    (request) => {
      const token = bearerToken(request) ?? webSocketToken(request);
      return token === undefined ? undefined : authenticateToken(token, []);
    },
  ];

  /** By connection, and only what the connection itself proves: the user stays the same for all its requests. */
  const known = new WeakMap<Peer, User>();

  function authenticate(request: ApiRequest): User {
    const { peer } = request;
    const before = known.get(peer);
    const { certificate } = peer;
    // A certificate ends while its connection goes on.
    if (before !== undefined && (certificate === undefined || holdsAt(certificate, now())))
      return before;
    const own = localPeer(request) ?? clientCertificate(request, now());
    const proof =
      own !== undefined && 'user' in own ? own : firstGood(waysToProve, (way) => way(request));
    if (proof === undefined) return anonymous;
    if ('error' in proof) throw unauthorized();
    const user = withAuthenticated(proof.user);
    if (proof === own) known.set(peer, user);
    return user;
  }

  function recognizes(request: ApiRequest): boolean {
    const proof = firstGood(waysToProve, (way) => way(request));
    return proof !== undefined && ('user' in proof || proof.isOurs === true);
  }

  return { authenticate, recognizes, authenticateToken };
}

/** The first proof of a user; a bad proof counts only when no other way gives a good one. */
function firstGood<W>(ways: readonly W[], prove: (way: W) => Proof | undefined): Proof | undefined {
  let bad: Proof | undefined;
  for (const way of ways) {
    const proof = prove(way);
    if (proof !== undefined && 'user' in proof) return proof;
    bad ??= proof;
  }
  return bad;
}

function localPeer({ peer }: ApiRequest): Proof | undefined {
  return peer.local === undefined
    ? undefined
    : { user: { name: peer.local.user, groups: peer.local.groups } };
}

/** The common name is the user, organizations are groups. */
function clientCertificate({ peer }: ApiRequest, now: number): Proof | undefined {
  const { certificate, untrustedCertificate } = peer;
  if (untrustedCertificate) return { error: 'the client certificate is not one of this server' };
  if (certificate === undefined) return undefined;
  if (!holdsAt(certificate, now)) return { error: 'the client certificate is not valid now' };
  const { commonName, organizations, fingerprint } = certificate;
  return { user: { name: commonName, groups: organizations, extra: credential(fingerprint) } };
}

/** With which of its certificates a user came: reviews and the audit log show it. */
const credential = (fingerprint: string) => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`],
});

/** Other schemes than Bearer, and an empty token, are as good as nothing. */
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
