// Watches the storage of a running server: logs once when it fails, and when it has recovered.
import { stat } from 'node:fs/promises';
import { type Clock, sleep } from '../host/clock.ts';
import type { Store } from '../storage/store.ts';

export type StorageWatchOptions = {
  readonly store: Pick<Store, 'checkWrites'>;
  /** Directories and files that the server cannot run without. */
  readonly paths: readonly string[];
  readonly clock: Clock;
  /** Reports to the user, whatever the log level. */
  readonly report: (message: string, reason?: string) => void;
};

export type StorageWatch = {
  /** Resolves with the path that was removed or replaced, if ever. */
  readonly gone: Promise<string>;
  readonly stop: () => Promise<void>;
};

const everyMs = 2000;
/** The timeout of a check, for an etcd that hangs. */
const answerTimeoutMs = 5000;

export async function watchStorage(options: StorageWatchOptions): Promise<StorageWatch> {
  const { paths, clock } = options;
  const end = new AbortController();
  const identities = await Promise.all(paths.map(identityOf));
  let resolveGone: (path: string) => void = () => {};
  const gone = new Promise<string>((resolve) => {
    resolveGone = resolve;
  });
  const check = createCheck(options);
  const running = (async () => {
    for (;;) {
      await sleep(clock, everyMs, end.signal);
      if (end.signal.aborted) return;
      const now = await Promise.all(paths.map(identityOf));
      const lost = paths.find((_, n) => now[n] !== identities[n]);
      if (lost !== undefined) return resolveGone(lost);
      await check(end.signal);
    }
  })();
  return {
    gone,
    async stop() {
      end.abort();
      await running;
    },
  };
}

/** The inode, to detect a directory that was replaced; empty when it does not exist. */
async function identityOf(path: string): Promise<string> {
  try {
    const { dev, ino } = await stat(path);
    return `${dev}:${ino}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    // An inaccessible path may still exist.
    return 'unknown';
  }
}

function createCheck({
  store,
  clock,
  report,
}: StorageWatchOptions): (signal: AbortSignal) => Promise<void> {
  let isWell = true;
  return async (signal) => {
    const reason = await reasonOf(store, clock, signal);
    if (signal.aborted || (reason === undefined) === isWell) return;
    isWell = reason === undefined;
    if (reason === undefined) report('Storage works again');
    else report('Storage fails, retrying', reason);
  };
}

async function reasonOf(
  store: Pick<Store, 'checkWrites'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const late = sleep(clock, answerTimeoutMs, until).then(
    () => `no answer within ${answerTimeoutMs} ms`,
  );
  const checked = store.checkWrites().then(
    () => undefined,
    (error: Error) => error.message,
  );
  try {
    return await Promise.race([checked, late]);
  } finally {
    end.abort();
  }
}
