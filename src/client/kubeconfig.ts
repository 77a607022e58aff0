// Parses kubeconfigs: which server, and with which credentials. Pure: files that a kubeconfig references are named, not read.
import { readOtherServers } from '../meta/kubeconfig-servers.ts';
import { trimEnd } from '../meta/trim-end.ts';
import { isJsonObject, type JsonObject } from '../schema/json-object.ts';
import { parseYaml } from '../schema/yaml.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import {
  type PemSource,
  parseUser,
  pemOf,
  textOf,
  type UserCredentials,
} from './kubeconfig-user.ts';

/** The cluster and the user of one context. */
export type KubeContext = UserCredentials & {
  /** `https://127.0.0.1:6443`, without a trailing slash; may have a path. */
  readonly server: string;
  /** More API servers of the same cluster; absent: there is only one. */
  readonly otherServers?: readonly string[];
  /** The default namespace. */
  readonly namespace: string;
  readonly certificateAuthority?: PemSource;
  /** The name that the server's certificate must have, when it is not the host of the URL. */
  readonly tlsServerName?: string;
  readonly skipTlsVerification: boolean;
  /** The proxy that leads to the server; absent: none, or that of the environment. */
  readonly proxyUrl?: string;
};

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

/** What flags say instead of the kubeconfig, by the names of its fields. */
export type KubeconfigOverrides = {
  readonly cluster?: string;
  readonly user?: string;
  readonly clusterFields: JsonObject;
  readonly userFields: JsonObject;
};

const noOverrides: KubeconfigOverrides = { clusterFields: {}, userFields: {} };

/** Without a name, the current context is resolved. */
export function resolveContext(
  config: Kubeconfig,
  contextName?: string,
  overrides: KubeconfigOverrides = noOverrides,
): KubeContext {
  const name = contextName ?? (config.currentContext || onlyContext(config));
  if (name === undefined) {
    throw new KubeconfigError('Cannot choose a context: the kubeconfig has no current-context');
  }
  const context = find(config.contexts, 'context', name);
  const clusterName = overrides.cluster ?? textOf(context, 'cluster') ?? '';
  const cluster = overridden(
    find(config.clusters, 'cluster', clusterName),
    overrides.clusterFields,
  );
  const userName = overrides.user ?? textOf(context, 'user');
  const user = overridden(
    userName === undefined ? {} : find(config.users, 'user', userName),
    overrides.userFields,
  );
  const credentials = parseUser(user, userName ?? '');
  const clusterConfig = pluginConfigOf(cluster.extensions);
  return {
    ...clusterParts(cluster),
    ...credentials,
    ...(credentials.exec === undefined || clusterConfig === undefined
      ? {}
      : { exec: { ...credentials.exec, clusterConfig } }),
    namespace: textOf(context, 'namespace') ?? 'default',
    skipTlsVerification: cluster['insecure-skip-tls-verify'] === true,
  };
}

/** Fields that say the same in another way. */
const sameAs: Readonly<Record<string, readonly string[]>> = {
  token: ['tokenFile', 'username', 'password', 'exec'],
  'client-certificate': ['client-certificate-data'],
  'client-key': ['client-key-data'],
  'certificate-authority': ['certificate-authority-data'],
};

function overridden(fields: JsonObject, by: JsonObject): JsonObject {
  const replaced = new Set(Object.keys(by).flatMap((name) => sameAs[name] ?? []));
  const rest = Object.entries(fields).filter(([name]) => !replaced.has(name));
  return { ...Object.fromEntries(rest), ...by };
}

function clusterParts(
  cluster: JsonObject,
): Omit<KubeContext, keyof UserCredentials | 'namespace' | 'skipTlsVerification'> {
  const authority = pemOf(cluster, 'certificate-authority');
  const serverName = textOf(cluster, 'tls-server-name');
  const proxyUrl = textOf(cluster, 'proxy-url');
  const otherServers = readOtherServers(cluster.extensions);
  return {
    server: serverOf(cluster),
    ...(otherServers.length === 0 ? {} : { otherServers }),
    ...(authority === undefined ? {} : { certificateAuthority: authority }),
    ...(serverName === undefined ? {} : { tlsServerName: serverName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
}

/** As client-go, a server without a scheme is reached over HTTP. */
function serverOf(cluster: JsonObject): string {
  const given = textOf(cluster, 'server') ?? 'http://localhost:8080';
  const server = given.includes('://') ? given : `http://${given}`;
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new KubeconfigError(
      `Cannot use the server "${given}" of the kubeconfig: want a URL such as https://127.0.0.1:6443`,
    );
  }
  return trimEnd(server, '/');
}

/** The extension of a cluster that plugins get with `provideClusterInfo`. */
const pluginExtension = 'client.authentication.k8s.io/exec';

function pluginConfigOf(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const own = extensions.find((one) => isJsonObject(one) && one.name === pluginExtension);
  return isJsonObject(own) ? own.extension : undefined;
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
