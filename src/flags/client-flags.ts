// The flags of commands that connect to an API server; opens the connection.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ApiCaller } from '../client/api-call.ts';
import { KubeconfigError } from '../client/kubeconfig-error.ts';
import type { Impersonation } from '../client/kubeconfig-user.ts';
import { openTransport } from '../client/open-transport.ts';
import { isInCluster, readInClusterConnection } from '../client/read-in-cluster.ts';
import { type Connection, readConnection } from '../client/read-kubeconfig.ts';
import type { Transport } from '../client/transport.ts';
import { chooseProxy, ProxyUrlError, readProxyVariables } from '../host/choose-proxy.ts';
import { FailedError, UsageError, type World } from './command.ts';
import { connectionSource } from './connection-source.ts';
import { type KubectlFlags, kubeconfigOverrides, readKubectlFlags } from './kubectl-flags.ts';
import { packageVersion } from './package-version.ts';
import { formatDuration } from './parse-values.ts';

export type ClientFlags = {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly asUid?: string;
};

export type ConnectOptions = {
  /** Whether kubectl's own kubeconfig is used when there is no other: for commands that only read. */
  readonly mayUseHome?: boolean;
  /** Does not print warnings of the server: for commands that read deprecated kinds on purpose. */
  readonly hidesWarnings?: boolean;
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
      'Kubeconfig file with the server and the credentials (default: $KUBECONFIG, then .fairlead/kubeconfig, then the service account of the pod)',
    )
    .option('--context <name>', 'Context of the kubeconfig to use (default: its current context)');
}

export function addClientFlags(command: Command): Command {
  return addConnectionFlags(command)
    .option('-n, --namespace <name>', 'Namespace of the request')
    .option('--as <user>', 'User to impersonate, when the own user may')
    .option(
      '--as-group <group>',
      'Group to impersonate, with --as; may be repeated',
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option('--as-uid <uid>', 'Uid to impersonate, with --as');
}

/** Connects, runs the action, and always closes the connection. */
export async function withSession<T>(
  flags: ClientFlags,
  world: World,
  act: (session: Session) => Promise<T>,
  options: ConnectOptions = {},
): Promise<T> {
  const connection = await connect(flags, world, options);
  const opened = explainFailures(openTransport(connection), connection);
  const transport = withTimeout(opened, kubectlFlags(flags, world).requestTimeout);
  const warned = new Set<string>();
  const caller = {
    transport,
    userAgent: `fairlead/${packageVersion}`,
    warn(text: string): void {
      if (options.hidesWarnings === true) return;
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

export async function connect(
  flags: ClientFlags,
  world: Pick<World, 'env' | 'cwd' | 'isKubectlPlugin'>,
  { mayUseHome = false }: ConnectOptions = {},
): Promise<Connection> {
  const { kubeconfig, context } = flags;
  const source = connectionSource(
    {
      ...{ mayUseHome, exists: existsSync, isInCluster: () => isInCluster({ env: world.env }) },
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
    },
    world,
  );
  try {
    const found =
      source.kind === 'in-cluster'
        ? await readInClusterConnection({ env: world.env })
        : await readConnection(
            source.paths,
            context,
            kubeconfigOverrides(kubectlFlags(flags, world), (path) => resolve(world.cwd(), path)),
          );
    return withEnvironment(found, flags, world.env);
  } catch (error) {
    if (!(error instanceof KubeconfigError || error instanceof ProxyUrlError)) throw error;
    const paths = source.kind === 'in-cluster' ? [] : source.paths;
    throw new UsageError(withPaths(error.message, paths));
  }
}

/** Elsewhere flags of these names mean something else. */
function kubectlFlags(
  flags: ClientFlags,
  { isKubectlPlugin = false }: Pick<World, 'isKubectlPlugin'>,
): KubectlFlags {
  return isKubectlPlugin ? readKubectlFlags(flags) : {};
}

/** What flags and variables add to the kubeconfig. */
function withEnvironment(found: Connection, flags: ClientFlags, env: World['env']): Connection {
  const proxyVariables = readProxyVariables(env);
  const impersonation = impersonationOf(flags);
  const connection = {
    ...found,
    ...(proxyVariables === undefined ? {} : { proxyVariables }),
    ...(impersonation === undefined ? {} : { impersonation }),
  };
  // Throws when a proxy cannot be used.
  chooseProxy(connection);
  return connection;
}

function impersonationOf({ as, asGroup = [], asUid }: ClientFlags): Impersonation | undefined {
  if (as !== undefined) {
    const uid = asUid === undefined ? {} : { uid: asUid };
    return { user: as, groups: asGroup, extra: {}, ...uid };
  }
  if (asGroup.length > 0 || asUid !== undefined)
    throw new UsageError('--as-group and --as-uid: there is no --as, which names the user');
  return undefined;
}

/** Adds the paths to messages that name no file. */
function withPaths(message: string, paths: readonly string[]): string {
  return paths.length === 0 || paths.some((path) => message.includes(path))
    ? message
    : `${message} (${paths.join(', ')})`;
}

/** 0, as without: no limit. */
function withTimeout(transport: Transport, limitMs = 0): Transport {
  if (limitMs === 0) return transport;
  return {
    ...transport,
    send: async ({ signal, ...request }) => {
      const timeout = AbortSignal.timeout(limitMs);
      const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      try {
        return await transport.send({ ...request, signal: either });
      } catch (error) {
        if (!timeout.aborted || signal?.aborted) throw error;
        const text = `Unable to connect to the server: no answer within --request-timeout, ${formatDuration(limitMs)}`;
        throw new FailedError(text, { cause: error });
      }
    },
  };
}

/** Explains connection errors to the user. */
function explainFailures(transport: Transport, { server }: Connection): Transport {
  return {
    ...transport,
    send: async (request) => {
      try {
        const response = await transport.send(request);
        return { ...response, body: explainBody(response.body, request.signal) };
      } catch (error) {
        if (error instanceof KubeconfigError || error instanceof ProxyUrlError)
          throw new FailedError(error.message, { cause: error });
        const text = connectionText(error, server);
        throw text === undefined || request.signal?.aborted
          ? error
          : new FailedError(text, { cause: error });
      }
    },
  };
}

/** A connection may also end within a response. */
async function* explainBody(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    if (signal?.aborted || !(error instanceof Error)) throw error;
    throw new FailedError(`The connection to the server was lost: ${error.message}`, {
      cause: error,
    });
  }
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

/** Of a connection that ended before the response came: it has no code. */
const lostConnection = /^Cannot read the response of /;

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
  if (lostConnection.test(message)) return `The connection to the server was lost: ${message}`;
  return code === undefined ? undefined : `Unable to connect to the server: ${message}`;
}
