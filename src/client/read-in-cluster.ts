// The connection of a program in a pod: the address of the API server is in its environment, the credentials of its service account are mounted.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { Connection } from './read-kubeconfig.ts';

/** Where every pod has them, unless it wants none. */
const defaultDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

export type InClusterOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
};

/** Whether the program runs in a pod that has credentials. */
export function isInCluster({ env, directory = defaultDirectory }: InClusterOptions): boolean {
  return (
    Boolean(env.KUBERNETES_SERVICE_HOST) &&
    Boolean(env.KUBERNETES_SERVICE_PORT) &&
    existsSync(join(directory, 'token'))
  );
}

/** The token is renewed by the cluster, so it is read again and again. */
export async function readInClusterConnection({
  env,
  directory = defaultDirectory,
}: InClusterOptions): Promise<Connection> {
  const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  try {
    const [token, certificateAuthority, namespace] = await Promise.all([
      read('token'),
      read('ca.crt'),
      read('namespace').catch(ignoreMissing),
    ]);
    return {
      server: `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT}`,
      namespace: namespace?.trim() || 'default',
      certificateAuthority,
      token: token.trim(),
      skipTlsVerification: false,
    };
  } catch (error) {
    const text = `Cannot read the service account of this pod: ${(error as Error).message}`;
    throw new KubeconfigError(text, { cause: error });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
