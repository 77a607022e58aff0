// The connection of a long-running part: its kubeconfig and credentials are polled, so that renewed tokens and certificates are used
// without a restart.
import { reportMissingRights } from '../client/missing-rights.ts';
import type { Connection } from '../client/read-kubeconfig.ts';
import {
  createRenewableTransport,
  type RenewableTransport,
} from '../client/renewable-transport.ts';
import { type Clock, systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { type ClientFlags, connect } from './client-flags.ts';
import type { World } from './command.ts';
import { followKubeconfig } from './follow-kubeconfig.ts';

export type OpenConnection = {
  /** The connection at the start. */
  readonly connection: Connection;
  /** Closing it also stops the polling. */
  readonly transport: RenewableTransport;
};

export type OpenConnectionOptions = {
  readonly world: World;
  readonly log: Log;
  readonly clock?: Clock;
};

/** Connects, runs the work, and always closes the connection. */
export async function withConnection(
  flags: ClientFlags,
  options: OpenConnectionOptions,
  work: (opened: OpenConnection) => Promise<void>,
): Promise<void> {
  const opened = await openConnection(flags, options);
  try {
    await work(opened);
  } finally {
    await opened.transport.close();
  }
}

export async function openConnection(
  flags: ClientFlags,
  options: OpenConnectionOptions,
): Promise<OpenConnection> {
  const { world } = options;
  const connection = await connect(flags, world);
  const { log, clock = systemClock } = options;
  const transport = reportMissingRights(createRenewableTransport(connection), { clock, log });
  const closing = new AbortController();
  const signal = AbortSignal.any([world.interrupted, closing.signal]);
  const following = followConnection(flags, { connection, transport }, options, signal);
  return {
    connection,
    transport: {
      ...transport,
      async close() {
        closing.abort();
        await following;
        await transport.close();
      },
    },
  };
}

/** Resolves when the signal is aborted. */
export async function followConnection(
  flags: ClientFlags,
  { connection, transport }: OpenConnection,
  { world, log, clock = systemClock }: OpenConnectionOptions,
  signal: AbortSignal,
): Promise<void> {
  await followKubeconfig(
    {
      read: () => connect(flags, world),
      current: connection,
      ...{ use: transport.use, clock, log },
    },
    signal,
  );
}
