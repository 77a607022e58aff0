// Locks of files between threads and processes (flock). The kernel releases them when their process ends, however it ends.
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadCLibrary, type NativeFunction } from './native.ts';

export type FileLock = { readonly descriptor: number; readonly release: () => void };
export type LockKind = 'shared' | 'exclusive';

const operations = { shared: 1, exclusive: 2 } as const;
const doNotWait = 4;
/** Locks are held for milliseconds, or for as long as a download takes. */
const firstWaitMs = 2;
const maxWaitMs = 100;
const eagain = -11;
const eintr = -4;

let flock: NativeFunction | undefined;

/** Creates the file if it is missing. Undefined if another holder of the lock, in this process or another, is in the way. */
export function tryLockFile(path: string, kind: LockKind): FileLock | undefined {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  const descriptor = openSync(path, flags, 0o600);
  try {
    if (lockDescriptor(descriptor, kind) && isStillAt(descriptor, path)) {
      return { descriptor, release: () => closeSync(descriptor) };
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  closeSync(descriptor);
  return undefined;
}

/** The previous holder may have removed or renamed the file: then this lock protects nothing. */
function isStillAt(descriptor: number, path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  const { dev, ino } = fstatSync(descriptor);
  return found !== undefined && found.ino === ino && found.dev === dev;
}

/** False if another holder is in the way. Closing the descriptor releases the lock. */
function lockDescriptor(descriptor: number, kind: LockKind): boolean {
  flock ??= loadCLibrary().signed('int flock(int descriptor, int operation)');
  for (;;) {
    const result = flock(descriptor, operations[kind] | doNotWait);
    if (result === 0) return true;
    if (result === eagain) return false;
    if (result !== eintr) throw new Error(`Cannot lock a file: error number ${-result}`);
  }
}

/** Waits without blocking the event loop, so there is no order among those who wait. */
export async function lockFile(
  path: string,
  kind: LockKind,
  signal: AbortSignal,
): Promise<FileLock> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    const lock = tryLockFile(path, kind);
    if (lock !== undefined) return lock;
    await sleep(waitMs, undefined, { signal });
  }
}
