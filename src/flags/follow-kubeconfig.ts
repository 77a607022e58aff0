// Somebody else renews what a kubeconfig names: an agent its certificate, a cluster the token of a pod. The files are read again now
// and then.
import { type Connection, readConnection } from '../client/read-kubeconfig.ts';
import { type Clock, sleep } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { deepEqual } from '../schema/equality.ts';

export type FollowOptions = {
  readonly paths: readonly string[];
  readonly context?: string;
  /** As it is in use now. */
  readonly current: Connection;
  readonly use: (connection: Connection) => void;
  readonly clock: Clock;
  readonly log: Log;
};

/** A few small files. Tokens of pods are replaced well over ten minutes before they end. */
const everyMs = 60_000;

/** Resolves when the signal ends it. */
export async function followKubeconfig(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { paths, context, use, clock, log } = options;
  let { current } = options;
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal);
    if (signal.aborted) return;
    try {
      const found = await readConnection(paths, context);
      if (deepEqual(found, current)) continue;
      use(found);
      current = found;
      log.info('credentials replaced', { kubeconfig: paths.join(', ') });
    } catch (error) {
      log.warn('kubeconfig not read, credentials of before stay', {
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}
