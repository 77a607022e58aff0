// The flags of commands that connect to an API server; opens the connection.

import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ApiCaller } from '../client/api-call.ts';
import { KubeconfigError } from '../client/kubeconfig.ts';
import { openFailoverTransport } from '../client/open-failover-transport.ts';
import { type Connection, readConnection } from '../client/read-kubeconfig.ts';
import type { Transport } from '../client/transport.ts';
import { FailedError, UsageError, type World } from './command.ts';
import { packageVersion } from './package-version.ts';

export type ClientFlags = {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
};

export type Session = {
  readonly caller: ApiCaller;
  readonly connection: Connection;
  /** From the flag, the context, or `default`. */
  readonly namespace: string;
  /** Whether --namespace was set. */
  readonly isNamespaceSet: boolean;
};

export function addConnectionFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'Kubeconfig file with the server and the credentials (default: $KUBECONFIG, then .fairlead/kubeconfig)',
    )
    .option('--context <name>', 'Context of the kubeconfig to use (default: its current context)');
}

export function addClientFlags(command: Command): Command {
  return addConnectionFlags(command).option('-n, --namespace <name>', 'Namespace of the request');
}

/** Connects, runs the action, and always closes the connection. */
export async function withSession<T>(
  flags: ClientFlags,
  world: World,
  act: (session: Session) => Promise<T>,
): Promise<T> {
  const connection = await connect(flags, world);
  const transport = explainFailures(openFailoverTransport(connection), connection);
  const warned = new Set<string>();
  const caller = {
    transport,
    userAgent: `fairlead/${packageVersion}`,
    warn(text: string): void {
      if (!warned.has(text)) world.writeError(`Warning: ${text}\n`);
      warned.add(text);
    },
  };
  try {
    return await act({
      caller,
      connection,
      namespace: flags.namespace ?? connection.namespace,
      isNamespaceSet: flags.namespace !== undefined,
    });
  } finally {
    await transport.close();
  }
}

export async function connect(flags: ClientFlags, world: World): Promise<Connection> {
  const paths = kubeconfigPaths(flags, world, existsSync);
  try {
    return await readConnection(paths, flags.context);
  } catch (error) {
    if (error instanceof KubeconfigError) throw new UsageError(withPaths(error.message, paths));
    throw error;
  }
}

/** Adds the paths to messages that name no file. */
function withPaths(message: string, paths: readonly string[]): string {
  return paths.some((path) => message.includes(path))
    ? message
    : `${message} (${paths.join(', ')})`;
}

/** The kubeconfig that `up` writes in its working directory. */
const ownKubeconfig = join('.fairlead', 'kubeconfig');

export function kubeconfigPaths(
  flags: ClientFlags,
  world: Pick<World, 'env' | 'cwd'>,
  exists: (path: string) => boolean,
): readonly string[] {
  const absolute = (path: string): string => resolve(world.cwd(), path);
  if (flags.kubeconfig !== undefined) return [absolute(flags.kubeconfig)];
  const named = (world.env.KUBECONFIG ?? '')
    .split(delimiter)
    .filter((path) => path !== '')
    .map(absolute);
  const present = named.filter(exists);
  // Missing files of $KUBECONFIG are an error only when all are missing.
  if (named.length > 0) return present.length > 0 ? present : named;
  const own = absolute(ownKubeconfig);
  if (exists(own)) return [own];
  throw new UsageError(
    `Cannot find a server: there is no --kubeconfig, no $KUBECONFIG and no ${ownKubeconfig} here. ` +
      'Start one with `fairlead up` in this directory, or name a kubeconfig.',
  );
}

/** Explains connection errors to the user. */
function explainFailures(transport: Transport, { server }: Connection): Transport {
  return {
    ...transport,
    send: async (request) => {
      try {
        return await transport.send(request);
      } catch (error) {
        const text = connectionText(error, server);
        throw text === undefined || request.signal?.aborted
          ? error
          : new FailedError(text, { cause: error });
      }
    },
  };
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

export function connectionText(error: unknown, server: string): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  const { host } = new URL(server);
  if (code === 'ECONNREFUSED') {
    return `The connection to the server ${host} was refused - did you specify the right host or port?`;
  }
  if (code?.startsWith('ERR_OSSL_')) {
    return `Unable to connect to the server: a certificate or key of the kubeconfig is damaged (${message})`;
  }
  if (code !== undefined && unknownAuthority.has(code)) {
    return `Unable to connect to the server: ${message}; the kubeconfig names no authority that signed the certificate of ${host}`;
  }
  return code === undefined ? undefined : `Unable to connect to the server: ${message}`;
}
