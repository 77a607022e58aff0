// Reads kubeconfigs and the files that they reference.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  type KubeContext,
  type Kubeconfig,
  KubeconfigError,
  mergeKubeconfigs,
  type PemSource,
  parseKubeconfig,
  resolveContext,
} from './kubeconfig.ts';

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
  readonly tlsServerName?: string;
  readonly skipTlsVerification: boolean;
};

/** Merges the kubeconfigs at the paths; relative file names are resolved against the kubeconfig that contains them. */
export async function readConnection(
  paths: readonly string[],
  context?: string,
): Promise<Connection> {
  const configs = await Promise.all(paths.map(readOne));
  const resolved = resolveContext(mergeKubeconfigs(configs), context);
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
    users: resolvePaths(config.users, folder),
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
