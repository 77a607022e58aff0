// Tells of storage that fails while a server runs, and ends the server when its data directory is removed.
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
    tell(message, reason) {
      // Who was told that it fails must be told that it is back, at the level at which `up` runs too.
      if (reason !== undefined) log.error(message, { reason });
      else if (logLevel === 'error') log.error(message);
      else log.info(message);
    },
  });
  const failed = gone.then((path): never => {
    throw new FailedError(`error: Cannot go on: "${path}" was removed while it was in use`);
  });
  // Who does not wait for it must not be ended by it.
  failed.catch(() => {});
  return { gone: failed, stop };
}
