// How a node agent or a proxy reaches its server: as a member that joined, or by a kubeconfig that somebody gave it; either way its
// credentials stay fresh while it runs.
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
import { type CertificateKeeper, keepClientCertificate } from './keep-certificates.ts';

export type Member = {
  readonly connection: Connection;
  readonly transport: RenewableTransport;
  /** Whether the certificates in the directory are its own to renew. */
  readonly isOwn: boolean;
};

export type MemberPlace = { readonly nodeName: string; readonly directory: string };

export async function openMember(
  flags: ClientFlags & JoinFlags,
  place: MemberPlace,
  world: World,
): Promise<Member> {
  const wish = joinRequest(flags, world);
  if (wish !== undefined && flags.kubeconfig !== undefined) {
    throw new UsageError(
      'Cannot use --join and --kubeconfig together: joining writes a kubeconfig.',
    );
  }
  const isOwn =
    wish !== undefined || (flags.kubeconfig === undefined && hasJoined(place.directory));
  const connection = isOwn
    ? await ensureJoined(
        {
          ...place,
          now: world.now(),
          say: world.write,
          ...(wish === undefined ? {} : { wish }),
        },
        world.interrupted,
      )
    : await connect(flags, world);
  return { connection, transport: createRenewableTransport(connection), isOwn };
}

export type KeepOptions = {
  readonly member: Member;
  readonly flags: ClientFlags;
  readonly place: MemberPlace;
  readonly world: World;
  readonly log: Log;
};

export function keeperOf({ member, place, log }: KeepOptions): CertificateKeeper {
  return {
    ...place,
    caller: { transport: member.transport, userAgent: 'fairlead-renewal' },
    clock: systemClock,
    log,
    random: Math.random,
  };
}

/** Does the work, and keeps the credentials fresh until it is done. */
export async function whileFresh(
  options: KeepOptions,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([options.world.interrupted, ending.signal]);
  const kept = keepCredentials(options, signal);
  try {
    await work(signal);
  } finally {
    ending.abort();
    await kept;
  }
}

async function keepCredentials(options: KeepOptions, signal: AbortSignal): Promise<void> {
  const { member, flags, place, world, log } = options;
  const { use } = member.transport;
  if (member.isOwn) {
    const reread = async (): Promise<void> =>
      use(await readConnection([kubeconfigPath(place.directory)]));
    return await keepClientCertificate(keeperOf(options), reread, signal);
  }
  await followConnection(flags, member, { world, log }, signal);
}
