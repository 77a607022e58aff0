// One process per directory. The lock is a listening Unix socket, because the kernel closes it with its
// process however that ends: a successful connect proves that the holder is alive, without trusting a process id.
//
// Holders are numbered: lock-1, lock-2 and so on, each a hard link to the holder's socket. The highest number
// holds the lock; a process that finds it dead links the next, and only one link(2) succeeds. A number
// is never reused while a higher one exists, so a slow contender cannot take the lock from
// one that acquired it later.
import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { StoreError } from '../../store-error.ts';

export type DirectoryLock = { release(): Promise<void> };

/** The holder may be busy; its process id only makes the message better. */
const answerTimeoutMs = 500;
/** The kernel's limit for a socket's path (sun_path), less the terminating zero. */
const maxSocketPathLength = 103;

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const descriptor = openSync(directory, 'r');
  const socketPath = (name: string): string => {
    const path = join(directory, name);
    const isLong = Buffer.byteLength(path) > maxSocketPathLength;
    return isLong ? `/proc/self/fd/${descriptor}/${name}` : path;
  };
  const name = `lock-new-${randomBytes(4).toString('hex')}`;
  const server = createServer((socket) => {
    // Connections must not hold up the release.
    socket.on('error', () => socket.destroy());
    socket.end(String(process.pid), () => socket.destroy());
  });
  try {
    await listen(server, socketPath(name));
    await acquireNumber(directory, name, socketPath);
    return { release: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  } finally {
    rmSync(join(directory, name), { force: true });
    closeSync(descriptor);
  }
}

async function acquireNumber(
  directory: string,
  name: string,
  socketPath: (name: string) => string,
): Promise<void> {
  for (;;) {
    const highest = numbersIn(directory).at(-1) ?? 0;
    const holder = highest === 0 ? 'dead' : await queryHolder(socketPath(`lock-${highest}`));
    if (holder === 'dead' && tryNumber(directory, name, highest + 1)) return;
    if (holder !== 'dead' && holder !== 'gone') throw locked(directory, holder);
  }
}

/** False when another process was faster. */
function tryNumber(directory: string, name: string, own: number): boolean {
  if (!tryLink(join(directory, name), join(directory, `lock-${own}`))) return false;
  const numbers = numbersIn(directory);
  const isHighest = numbers.at(-1) === own;
  // A higher number: other processes removed this one before it was linked again here.
  const discarded = isHighest ? numbers.slice(0, -1) : [own];
  for (const number of discarded) rmSync(join(directory, `lock-${number}`), { force: true });
  return isHighest;
}

function numbersIn(directory: string): number[] {
  return readdirSync(directory)
    .map((file) => Number(/^lock-(\d+)$/.exec(file)?.[1] ?? 0))
    .filter((number) => number > 0)
    .sort((a, b) => a - b);
}

/** False when the number is taken. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The process id of the listener; 'unknown' when it does not answer, 'dead' when there is none, 'gone' without a socket. */
function queryHolder(path: string): Promise<string | 'unknown' | 'dead' | 'gone'> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let answer = '';
    const answered = (): void => {
      socket.destroy();
      resolve(answer === '' ? 'unknown' : answer);
    };
    socket.setEncoding('utf8').setTimeout(answerTimeoutMs, answered);
    socket.on('data', (text: string) => {
      answer += text;
    });
    socket.on('end', answered);
    socket.on('error', (error) => {
      // Only ECONNREFUSED means that there is no listener; EAGAIN, for one, is a holder with a full backlog.
      const code = codeOf(error);
      resolve(code === 'ECONNREFUSED' ? 'dead' : code === 'ENOENT' ? 'gone' : 'unknown');
    });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    forOwnerOnly(() =>
      server.listen(path, () => {
        server.removeListener('error', reject);
        resolve();
      }),
    );
    server.unref();
  });
}

/** A socket gets its mode from the umask when it is bound, which listen() does before it returns. Threads may not change the umask. */
function forOwnerOnly(bind: () => void): void {
  if (!isMainThread) {
    bind();
    return;
  }
  const before = process.umask(0o177);
  try {
    bind();
  } finally {
    process.umask(before);
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function locked(directory: string, holder: string): StoreError {
  const who = holder === 'unknown' ? 'another process' : `process ${holder}`;
  return new StoreError('locked', `Cannot open "${directory}": ${who} has it open`);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
