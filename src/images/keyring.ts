// Credentials for registries, as data. Which of them are for an image is decided as a kubelet does (pkg/credentialprovider/keyring.go). Pure.
import { trimEnd } from '../meta/trim-end.ts';

export type RegistryLogin =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A refresh token, exchanged for tokens of the registry's token server. */
  | { readonly kind: 'identity'; readonly identityToken: string }
  /** Sent to the registry as it is. */
  | { readonly kind: 'registry'; readonly registryToken: string };

export type KeyringEntry = {
  /** `registry.example`, `*.registry.example:5000`, `registry.example/team`. */
  readonly pattern: string;
  readonly login: RegistryLogin;
};

/** In the order in which they are tried among those with equal patterns. Keyrings are joined as lists. */
export type Keyring = readonly KeyringEntry[];

type Location = { readonly host: string; readonly port: string; readonly path: string };

/** Credentials for an image: the most specific pattern first. `repository` is `host:port/path`, without tag. */
export function lookUpLogins(keyring: Keyring, repository: string): readonly RegistryLogin[] {
  const location = locationOf(repository);
  const matching = keyring
    .map(({ pattern, login }) => ({ login, pattern: normalized(pattern) }))
    .filter(({ pattern }) => matches(locationOf(pattern), location));
  // Longer paths sort behind shorter ones, and are tried before them.
  return matching.sort((a, b) => compareText(b.pattern, a.pattern)).map(({ login }) => login);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The names that `docker login` writes for Docker Hub, and URLs. */
function normalized(pattern: string): string {
  const text = trimEnd(pattern.replace(/^https?:\/\//, ''), '/');
  const slash = text.indexOf('/');
  const host = slash < 0 ? text : text.slice(0, slash);
  const path = slash < 0 ? '' : text.slice(slash);
  const isHub = host === 'index.docker.io' || host === 'registry-1.docker.io';
  // `v1` and `v2` are versions of the API, as in https://index.docker.io/v1/.
  const below = /^\/v[12](?=\/|$)/.test(path) ? path.slice(3) : path;
  return `${isHub ? 'docker.io' : host}${below}`;
}

function locationOf(text: string): Location {
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  const [host, port = ''] = authority.startsWith('[')
    ? [authority.replace(/:\d+$/, ''), /\]:(\d+)$/.exec(authority)?.[1] ?? '']
    : authority.split(':');
  return { host: host ?? '', port, path: slash < 0 ? '' : text.slice(slash) };
}

/** Ports are equal; the host has as many parts, each of which matches; the path is the beginning of the image's. */
function matches(pattern: Location, { host, port, path }: Location): boolean {
  if (pattern.port !== port || !path.startsWith(pattern.path)) return false;
  const [wanted, parts] = [pattern.host.split('.'), host.split('.')];
  return wanted.length === parts.length && wanted.every((glob, at) => fits(glob, parts[at] ?? ''));
}

/** `*` is any text, `?` any character. Takes as many steps as the product of the lengths, which are short. */
function fits(glob: string, text: string): boolean {
  if (!/[*?]/.test(glob)) return glob === text;
  let reachable = new Set([0]);
  for (const character of glob) reachable = advance(reachable, character, text);
  return reachable.has(text.length);
}

/** Positions in the text after one more character of the pattern. */
function advance(reachable: ReadonlySet<number>, character: string, text: string): Set<number> {
  if (character === '*') {
    if (reachable.size === 0) return new Set();
    const first = Math.min(...reachable);
    return new Set(
      Array.from({ length: Math.max(text.length - first + 1, 0) }, (_, n) => first + n),
    );
  }
  const fitting = [...reachable].filter(
    (at) => at < text.length && (character === '?' || character === text[at]),
  );
  return new Set(fitting.map((at) => at + 1));
}
