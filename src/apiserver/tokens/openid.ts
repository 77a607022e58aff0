// What others need to check our tokens without asking us: OpenID Connect discovery and the key set (RFC 7517).
import type { ApiResponse } from '../message.ts';
import { keysOf, type TokenIssuer } from './service-account-tokens.ts';

const keySetPath = '/openid/v1/jwks';
/** An hour: keys change so rarely that a start of the server is the usual reason. */
const maxAgeSeconds = 3600;

/** `address`: where clients outside reach this server, `host:port`. Undefined when the path is another one. */
export function answerOpenId(
  tokens: Pick<TokenIssuer, 'issuer' | 'key' | 'keys'>,
  path: string,
  address: string,
): ApiResponse | undefined {
  const keys = keysOf(tokens);
  const trimmed = path.replace(/\/$/, '');
  if (trimmed === '/.well-known/openid-configuration') {
    return answer('application/json', {
      issuer: tokens.issuer,
      jwks_uri: `https://${address}${keySetPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))],
    });
  }
  if (trimmed !== keySetPath) return undefined;
  return answer('application/jwk-set+json', {
    keys: keys.map(({ algorithm, id, publicKey }) => ({
      use: 'sig',
      alg: algorithm,
      kid: id,
      ...publicKey.export({ format: 'jwk' }),
    })),
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
