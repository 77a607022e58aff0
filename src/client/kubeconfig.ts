// Parses kubeconfigs: which server, and with which credentials. Pure: files that a kubeconfig references are named, not read.
import { readOtherServers } from '../meta/kubeconfig-servers.ts';
import { trimEnd } from '../meta/trim-end.ts';
import { isJsonObject, type JsonObject } from '../schema/json-object.ts';
import { parseYaml } from '../schema/yaml.ts';

/** PEM text, or the file that contains it. */
export type PemSource = { readonly text: string } | { readonly file: string };

/** The cluster and the user of one context. */
export type KubeContext = {
  /** `https://127.0.0.1:6443`, without a trailing slash; may have a path. */
  readonly server: string;
  /** More API servers of the same cluster; absent: there is only one. */
  readonly otherServers?: readonly string[];
  /** The default namespace. */
  readonly namespace: string;
  readonly certificateAuthority?: PemSource;
  readonly clientCertificate?: PemSource;
  readonly clientKey?: PemSource;
  readonly token?: PemSource;
  /** The name that the server's certificate must have, when it is not the host of the URL. */
  readonly tlsServerName?: string;
  readonly skipTlsVerification: boolean;
};

/** The kubeconfig cannot be used; the message says why. */
export class KubeconfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KubeconfigError';
  }
}

type Named = ReadonlyMap<string, JsonObject>;

export type Kubeconfig = {
  readonly clusters: Named;
  readonly users: Named;
  readonly contexts: Named;
  readonly currentContext: string;
};

export function parseKubeconfig(text: string): Kubeconfig {
  const parsed = parseYaml(text);
  if ('error' in parsed) throw new KubeconfigError(`Cannot read the kubeconfig: ${parsed.error}`);
  if (!isJsonObject(parsed.value))
    throw new KubeconfigError(
      'Cannot read the kubeconfig: it must be a map with clusters, users and contexts',
    );
  const { value } = parsed;
  const current = value['current-context'];
  return {
    clusters: named(value.clusters, 'cluster'),
    users: named(value.users, 'user'),
    contexts: named(value.contexts, 'context'),
    currentContext: typeof current === 'string' ? current : '',
  };
}

/** Merges several files; for each name the first file that defines it wins. */
export function mergeKubeconfigs(all: readonly Kubeconfig[]): Kubeconfig {
  const merge = (part: 'clusters' | 'users' | 'contexts'): Named =>
    firstOfEach(all.flatMap((one) => [...one[part]]));
  return {
    clusters: merge('clusters'),
    users: merge('users'),
    contexts: merge('contexts'),
    currentContext: all.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  };
}

/** Without a name, the current context is resolved. */
export function resolveContext(config: Kubeconfig, contextName?: string): KubeContext {
  const name = contextName ?? (config.currentContext || onlyContext(config));
  if (name === undefined) {
    throw new KubeconfigError('Cannot choose a context: the kubeconfig has no current-context');
  }
  const context = find(config.contexts, 'context', name);
  const cluster = find(config.clusters, 'cluster', text(context, 'cluster') ?? '');
  const user =
    text(context, 'user') === undefined
      ? {}
      : find(config.users, 'user', text(context, 'user') ?? '');
  refuseUnsupported(user);
  return {
    ...parts(cluster, user),
    namespace: text(context, 'namespace') ?? 'default',
    skipTlsVerification: cluster['insecure-skip-tls-verify'] === true,
  };
}

function parts(
  cluster: JsonObject,
  user: JsonObject,
): Omit<KubeContext, 'namespace' | 'skipTlsVerification'> {
  const authority = pem(cluster, 'certificate-authority');
  const certificate = pem(user, 'client-certificate');
  const key = pem(user, 'client-key');
  const token = tokenOf(user);
  const serverName = text(cluster, 'tls-server-name');
  const otherServers = readOtherServers(cluster.extensions);
  return {
    server: trimEnd(text(cluster, 'server') ?? 'http://localhost:8080', '/'),
    ...(otherServers.length === 0 ? {} : { otherServers }),
    ...(authority === undefined ? {} : { certificateAuthority: authority }),
    ...(certificate === undefined ? {} : { clientCertificate: certificate }),
    ...(key === undefined ? {} : { clientKey: key }),
    ...(token === undefined ? {} : { token }),
    ...(serverName === undefined ? {} : { tlsServerName: serverName }),
  };
}

/** Inline data takes precedence over a file, as with kubectl. */
function pem(fields: JsonObject, name: string): PemSource | undefined {
  const encoded = text(fields, `${name}-data`);
  if (encoded !== undefined) return { text: Buffer.from(encoded, 'base64').toString('utf8') };
  const file = text(fields, name);
  return file === undefined ? undefined : { file };
}

function tokenOf(user: JsonObject): PemSource | undefined {
  const token = text(user, 'token');
  if (token !== undefined) return { text: token };
  const file = text(user, 'tokenFile');
  return file === undefined ? undefined : { file };
}

/** Refused here with a clear message: exec and auth-provider plugins and basic authentication are not supported. */
function refuseUnsupported(user: JsonObject): void {
  for (const method of ['exec', 'auth-provider', 'username']) {
    if (user[method] !== undefined) {
      throw new KubeconfigError(
        `Cannot use the user of the kubeconfig: it authenticates by "${method}"; supported are client certificates and tokens`,
      );
    }
  }
}

function onlyContext({ contexts }: Kubeconfig): string | undefined {
  const [name] = contexts.keys();
  return contexts.size === 1 ? name : undefined;
}

function find(all: Named, what: string, name: string): JsonObject {
  const found = all.get(name);
  if (found !== undefined) return found;
  const known = all.size === 0 ? 'it has none' : `it has ${[...all.keys()].join(', ')}`;
  throw new KubeconfigError(`Cannot find the ${what} "${name}" in the kubeconfig: ${known}`);
}

function named(list: unknown, key: string): Named {
  const entries = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return firstOfEach(
    entries.flatMap((entry) => {
      const { name } = entry;
      const value = entry[key];
      return typeof name === 'string' && isJsonObject(value) ? [[name, value] as const] : [];
    }),
  );
}

function firstOfEach(entries: readonly (readonly [string, JsonObject])[]): Named {
  const result = new Map<string, JsonObject>();
  for (const [name, fields] of entries) if (!result.has(name)) result.set(name, fields);
  return result;
}

function text(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
