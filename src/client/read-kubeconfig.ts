// Reads kubeconfigs and the files that they reference.
import { readFile } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import type { ProxyVariables } from '../host/choose-proxy.ts';
import { isJsonObject } from '../schema/json-object.ts';
import {
  type KubeContext,
  type Kubeconfig,
  type KubeconfigOverrides,
  mergeKubeconfigs,
  parseKubeconfig,
  resolveContext,
} from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { BasicAuth, ExecPlugin, Impersonation, PemSource } from './kubeconfig-user.ts';

/** All that is needed to reach a server, with the contents of all files. */
export type Connection = {
  readonly server: string;
  /** More API servers of the same cluster, for failover. */
  readonly otherServers?: readonly string[];
  readonly namespace: string;
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly token?: string;
  readonly basicAuth?: BasicAuth;
  /** Prints the credentials; unless there is a token or a password already. */
  readonly exec?: ExecPlugin;
  readonly impersonation?: Impersonation;
  readonly tlsServerName?: string;
  readonly skipTlsVerification: boolean;
  /** The proxy of the kubeconfig. */
  readonly proxyUrl?: string;
  /** Proxies of the environment; absent: none. */
  readonly proxyVariables?: ProxyVariables;
};

/** Merges the kubeconfigs at the paths; relative file names are resolved against the kubeconfig that contains them. */
export async function readConnection(
  paths: readonly string[],
  context?: string,
  overrides?: KubeconfigOverrides,
): Promise<Connection> {
  const configs = await Promise.all(paths.map(readOne));
  const resolved = resolveContext(mergeKubeconfigs(configs), context, overrides);
  const [first = '.'] = paths;
  return readSources(resolved, dirname(first));
}

async function readOne(path: string): Promise<Kubeconfig> {
  const text = await readText(path, 'kubeconfig');
  const config = parseKubeconfig(text);
  const folder = dirname(path);
  return {
    ...config,
    clusters: resolvePaths(config.clusters, folder),
    users: resolveCommands(resolvePaths(config.users, folder), folder),
  };
}

const fileFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

function resolvePaths(all: Kubeconfig['clusters'], folder: string): Kubeconfig['clusters'] {
  return new Map(
    [...all].map(([name, fields]) => {
      const named = fileFields.flatMap((field) => {
        const value = fields[field];
        return typeof value === 'string' && value !== ''
          ? [[field, resolve(folder, value)] as const]
          : [];
      });
      return [name, { ...fields, ...Object.fromEntries(named) }];
    }),
  );
}

/** A command with a slash is relative to the kubeconfig; another is searched in $PATH. */
function resolveCommands(all: Kubeconfig['users'], folder: string): Kubeconfig['users'] {
  return new Map(
    [...all].map(([name, fields]) => {
      const { exec } = fields;
      if (!isJsonObject(exec) || typeof exec.command !== 'string') return [name, fields];
      if (!exec.command.includes(sep)) return [name, fields];
      return [name, { ...fields, exec: { ...exec, command: resolve(folder, exec.command) } }];
    }),
  );
}

async function readSources(context: KubeContext, folder: string): Promise<Connection> {
  const { certificateAuthority, clientCertificate, clientKey, token, ...plain } = context;
  const read = async (source: PemSource | undefined, what: string): Promise<string | undefined> => {
    if (source === undefined) return undefined;
    return 'text' in source ? source.text : readText(resolve(folder, source.file), what);
  };
  const [authority, certificate, key, bearer] = await Promise.all([
    read(certificateAuthority, 'certificate authority'),
    read(clientCertificate, 'client certificate'),
    read(clientKey, 'client key'),
    read(token, 'token'),
  ]);
  return {
    ...plain,
    ...(authority === undefined ? {} : { certificateAuthority: authority }),
    ...(certificate === undefined ? {} : { clientCertificate: certificate }),
    ...(key === undefined ? {} : { clientKey: key }),
    ...(bearer === undefined ? {} : { token: bearer.trim() }),
  };
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`Cannot read the ${what} "${path}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}
