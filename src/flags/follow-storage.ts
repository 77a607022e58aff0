// Logs failures of the storage while a server runs, and stops the server when its data directory is removed.
import { join } from 'node:path';
import { systemClock } from '../host/clock.ts';
import type { Log, LogLevel } from '../observe/log.ts';
import type { Store } from '../storage/store.ts';
import { FailedError } from './command.ts';
import { watchStorage } from './watch-storage.ts';

type Flags = { readonly logLevel: LogLevel; readonly etcdServers?: readonly string[] };

export type FollowedStorage = {
  readonly gone: Promise<never>;
  readonly stop: () => Promise<void>;
};

export async function followStorage(
  store: Store,
  { logLevel, etcdServers }: Flags,
  dataDir: string,
  log: Log,
): Promise<FollowedStorage> {
  const file = join(dataDir, 'store', 'store.mdb');
  const { gone, stop } = await watchStorage({
    store,
    paths: etcdServers === undefined ? [dataDir, file] : [dataDir],
    clock: systemClock,
    report(message, reason) {
      // A recovery must be logged wherever the failure was: `up` logs at level error only.
      if (reason !== undefined) log.error(message, { reason });
      else if (logLevel === 'error') log.error(message);
      else log.info(message);
    },
  });
  const failed = gone.then((path): never => {
    throw new FailedError(`error: Cannot go on: "${path}" was removed while it was in use`);
  });
  // Handled by those who wait for `gone`; without them it must not be an unhandled rejection.
  failed.catch(() => {});
  return { gone: failed, stop };
}
