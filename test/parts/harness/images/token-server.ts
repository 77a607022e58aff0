// A token server as Debian's docker-registry trusts one: tokens are signed with a key whose certificate it has.
import { randomUUID, sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from '../../../../src/apiserver/certificates/x509.ts';
import { type RegistryTokens, registryLogin } from './registry-process.ts';

export type TokenServer = RegistryTokens & {
  /** What clients sent: the method and the parameters. */
  readonly requests: string[];
  readonly refreshToken: string;
  readonly stop: () => Promise<void>;
};

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Gives tokens to `registryLogin`, and for the refresh token. */
export async function startTokenServer(): Promise<TokenServer> {
  const hour = 3_600_000;
  const { certificate, privateKey } = makeCertificate({
    ...{ subject: { commonName: 'tokens' }, use: 'authority' },
    ...{ notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + 24 * hour) },
  });
  const service = 'test-registry';
  const issuer = 'test-tokens';
  const x5c = [new X509Certificate(certificate).raw.toString('base64')];
  const tokenFor = (repository: string, actions: readonly string[]): string => {
    const now = Math.floor(Date.now() / 1000);
    const head = encoded({ typ: 'JWT', alg: 'ES256', x5c });
    const body = encoded({
      ...{ iss: issuer, sub: 'tester', aud: service, jti: randomUUID() },
      ...{ exp: now + 600, nbf: now - 60, iat: now },
      access: [{ type: 'repository', name: repository, actions }],
    });
    const text = `${head}.${body}`;
    const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  };
  const requests: string[] = [];
  const refreshToken = 'refresh-me';
  const login = Buffer.from(`${registryLogin.username}:${registryLogin.password}`);
  const server = createServer(async (request, response) => {
    const parameters = await parametersOf(request);
    requests.push(`${request.method} ${parameters}`);
    const isLoggedIn =
      request.headers.authorization === `Basic ${login.toString('base64')}` ||
      (request.method === 'POST' && parameters.get('refresh_token') === refreshToken);
    const [, repository] = /^repository:(.+):pull$/.exec(parameters.get('scope') ?? '') ?? [];
    if (!isLoggedIn || repository === undefined) return void response.writeHead(401).end();
    const token = tokenFor(repository, ['pull']);
    response.end(JSON.stringify(request.method === 'POST' ? { access_token: token } : { token }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ...{ service, issuer, certificate, requests, refreshToken },
    realm: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    pushToken: (repository) => tokenFor(repository, ['pull', 'push']),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Of the query, or of the body of a POST. */
async function parametersOf(request: IncomingMessage): Promise<URLSearchParams> {
  if (request.method !== 'POST') return new URL(request.url ?? '', 'http://tokens').searchParams;
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return new URLSearchParams(Buffer.concat(parts).toString());
}
