// Connects a node agent or a proxy to its server, with the identity it got by joining or with a kubeconfig, and keeps the
// credentials current while it runs.
import type { Connection } from '../client/read-kubeconfig.ts';
import { readConnection } from '../client/read-kubeconfig.ts';
import {
  createRenewableTransport,
  type RenewableTransport,
} from '../client/renewable-transport.ts';
import { type ClientFlags, connect } from '../flags/client-flags.ts';
import { UsageError, type World } from '../flags/command.ts';
import { followConnection } from '../flags/open-connection.ts';
import { systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { hasJoined, kubeconfigPath } from './identity-files.ts';
import { ensureJoined } from './join-cluster.ts';
import { type JoinFlags, joinRequest } from './join-flags.ts';
import { type RenewalOptions, renewClientCertificate } from './renew-certificates.ts';

export type NodeConnection = {
  readonly connection: Connection;
  readonly transport: RenewableTransport;
  /** Whether it uses the certificates of joining, which it has to renew. */
  readonly isJoined: boolean;
};

export type NodeIdentity = { readonly nodeName: string; readonly directory: string };

export async function openNodeConnection(
  flags: ClientFlags & JoinFlags,
  identity: NodeIdentity,
  world: World,
): Promise<NodeConnection> {
  const request = joinRequest(flags, world);
  if (request !== undefined && flags.kubeconfig !== undefined) {
    throw new UsageError('Cannot use --join with --kubeconfig: joining writes a kubeconfig.');
  }
  const isJoined =
    request !== undefined || (flags.kubeconfig === undefined && hasJoined(identity.directory));
  const connection = isJoined
    ? await ensureJoined(
        {
          ...identity,
          now: world.now(),
          print: world.write,
          ...(request === undefined ? {} : { request }),
        },
        world.interrupted,
      )
    : await connect(flags, world);
  return { connection, transport: createRenewableTransport(connection), isJoined };
}

export type ConnectedNode = {
  readonly node: NodeConnection;
  readonly flags: ClientFlags;
  readonly identity: NodeIdentity;
  readonly world: World;
  readonly log: Log;
};

export function renewalOptions({ node, identity, log }: ConnectedNode): RenewalOptions {
  return {
    ...identity,
    caller: { transport: node.transport, userAgent: 'fairlead-renewal' },
    clock: systemClock,
    log,
    random: Math.random,
  };
}

/** Renews the credentials while `work` runs. */
export async function whileRenewing(
  options: ConnectedNode,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([options.world.interrupted, done.signal]);
  const renewing = renewCredentials(options, signal);
  try {
    await work(signal);
  } finally {
    done.abort();
    await renewing;
  }
}

async function renewCredentials(options: ConnectedNode, signal: AbortSignal): Promise<void> {
  const { node, flags, identity, world, log } = options;
  const { use } = node.transport;
  if (node.isJoined) {
    const reread = async (): Promise<void> =>
      use(await readConnection([kubeconfigPath(identity.directory)]));
    return await renewClientCertificate(renewalOptions(options), reread, signal);
  }
  await followConnection(flags, node, { world, log }, signal);
}
