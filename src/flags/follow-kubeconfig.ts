// Follows the credentials that a kubeconfig references, which others renew: a node its certificate, a cluster the token of a pod. The files
// are polled.
import type { Connection } from '../client/read-kubeconfig.ts';
import { type Clock, sleep } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { deepEqual } from '../schema/equality.ts';

export type FollowOptions = {
  readonly read: () => Promise<Connection>;
  /** The connection in use. */
  readonly current: Connection;
  readonly use: (connection: Connection) => void;
  readonly clock: Clock;
  readonly log: Log;
};

/** A few small files. Tokens of pods are replaced well over ten minutes before they expire. */
const everyMs = 60_000;

/** Resolves when the signal is aborted. */
export async function followKubeconfig(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { read, use, clock, log } = options;
  let { current } = options;
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal);
    if (signal.aborted) return;
    try {
      const found = await read();
      if (deepEqual(found, current)) continue;
      use(found);
      current = found;
      log.info('Replaced credentials', { server: found.server });
    } catch (error) {
      log.warn('Failed to read kubeconfig, keeping the previous credentials', {
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}
