// What others need to check our tokens without asking us: OpenID Connect discovery and the key set (RFC 7517).
import type { ApiResponse } from '../message.ts';
import type { TokenIssuer } from './service-account-tokens.ts';

const keySetPath = '/openid/v1/jwks';
/** An hour: keys change so rarely that a start of the server is the usual reason. */
const maxAgeSeconds = 3600;

/** `address`: where clients outside reach this server, `host:port`. Undefined when the path is another one. */
export function answerOpenId(
  { issuer, key }: Pick<TokenIssuer, 'issuer' | 'key'>,
  path: string,
  address: string,
): ApiResponse | undefined {
  if (path === '/.well-known/openid-configuration') {
    return answer('application/json', {
      issuer,
      jwks_uri: `https://${address}${keySetPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [key.algorithm],
    });
  }
  if (path !== keySetPath) return undefined;
  const shape = key.publicKey.export({ format: 'jwk' });
  return answer('application/jwk-set+json', {
    keys: [{ use: 'sig', alg: key.algorithm, kid: key.id, ...shape }],
  });
}

function answer(contentType: string, body: object): ApiResponse {
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'cache-control': `public, max-age=${maxAgeSeconds}`,
    },
    body: JSON.stringify(body),
  };
}
