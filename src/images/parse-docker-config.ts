// Credentials as Docker and Kubernetes store them. Helper programs (credsStore, credHelpers) are not run. Pure.
import { goQuote } from '../schema/go-quote.ts';
import type { Keyring, RegistryLogin } from './keyring.ts';

/** The content of a Secret has at most 1 MiB. */
const maxConfigLength = 2 ** 20;
const maxRegistries = 1000;

export class DockerConfigError extends Error {
  override readonly name = 'DockerConfigError';
}

/**
 * The content of `~/.docker/config.json` and of a Secret of type kubernetes.io/dockerconfigjson, which have their registries below `auths`; or of
 * `~/.dockercfg` and kubernetes.io/dockercfg, which have them at the top. Messages contain nothing of the credentials.
 */
export function parseDockerConfig(text: string): Keyring {
  if (text.length > maxConfigLength)
    throw new DockerConfigError(`the credentials have more than ${maxConfigLength} characters`);
  const top = objectOf(parsed(text), 'the credentials');
  const isOld = !('auths' in top) && !('credsStore' in top) && !('credHelpers' in top);
  const registries = isOld ? top : objectOf(top.auths ?? {}, '"auths"');
  const entries = Object.entries(registries);
  if (entries.length > maxRegistries)
    throw new DockerConfigError(
      `there are ${entries.length} registries, more than ${maxRegistries}`,
    );
  return entries.flatMap(([pattern, value]) => {
    const login = loginOf(value, pattern);
    return login === undefined ? [] : [{ pattern, login }];
  });
}

/** Undefined for an entry without credentials: they are with a helper program. */
function loginOf(value: unknown, pattern: string): RegistryLogin | undefined {
  const entry = objectOf(value, `the entry for ${goQuote(pattern)}`);
  const text = (name: string): string | undefined => {
    const found = entry[name];
    if (found === undefined || found === null || found === '') return undefined;
    if (typeof found === 'string') return found;
    throw new DockerConfigError(`${name} of ${goQuote(pattern)} is not a string`);
  };
  const identityToken = text('identitytoken');
  if (identityToken !== undefined) return { kind: 'identity', identityToken };
  const registryToken = text('registrytoken');
  if (registryToken !== undefined) return { kind: 'registry', registryToken };
  const auth = text('auth');
  const [username, password] =
    auth === undefined ? [text('username'), text('password')] : decodeAuth(auth, pattern);
  if (username === undefined || password === undefined) return undefined;
  // What `docker login` writes with a token of a token server.
  if (username === '<token>') return { kind: 'identity', identityToken: password };
  return { kind: 'password', username, password };
}

function decodeAuth(auth: string, pattern: string): readonly [string, string] {
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0)
    throw new DockerConfigError(
      `auth of ${goQuote(pattern)} is not the base64 form of USER:PASSWORD`,
    );
  // Docker pads with zero bytes.
  return [decoded.slice(0, colon), decoded.slice(colon + 1).replaceAll('\0', '')];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the text.
    throw new DockerConfigError('the credentials are not JSON');
  }
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DockerConfigError(`${what} is not an object`);
  return value as Readonly<Record<string, unknown>>;
}
