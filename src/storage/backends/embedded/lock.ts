// One process per directory. The lock is a listening Unix socket, because the kernel closes it with its
// process however that ends: who can connect knows that the owner lives, without trusting a process id.
//
// Owners are numbered: lock-1, lock-2 and so on, each a link to its owner's socket. The highest number
// holds the lock; who finds it dead makes the next, and making a link succeeds for one only. A number
// is never used again while a higher one is there, so a slow contender cannot take the lock from
// one that came after it.
import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { StoreError } from '../../store-error.ts';

export type DirectoryLock = { release(): Promise<void> };

/** The owner may be busy; its process id is worth waiting for a little, not more. */
const answerTimeoutMs = 500;
/** What the kernel takes for a socket's path, less the terminating zero. */
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
    // Whoever asks and goes away does not matter; who asks and stays must not hold up the release.
    socket.on('error', () => socket.destroy());
    socket.end(String(process.pid), () => socket.destroy());
  });
  try {
    await listen(server, socketPath(name));
    await takeNumber(directory, name, socketPath);
    return { release: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  } finally {
    rmSync(join(directory, name), { force: true });
    closeSync(descriptor);
  }
}

async function takeNumber(
  directory: string,
  name: string,
  socketPath: (name: string) => string,
): Promise<void> {
  for (;;) {
    const highest = numbersIn(directory).at(-1) ?? 0;
    const owner = highest === 0 ? 'dead' : await ask(socketPath(`lock-${highest}`));
    if (owner === 'dead' && tryNumber(directory, name, highest + 1)) return;
    if (owner !== 'dead' && owner !== 'gone') throw locked(directory, owner);
  }
}

/** False when someone else was faster. */
function tryNumber(directory: string, name: string, own: number): boolean {
  if (!tryLink(join(directory, name), join(directory, `lock-${own}`))) return false;
  const numbers = numbersIn(directory);
  const isHighest = numbers.at(-1) === own;
  // A number above: others went past this one and cleared it away before it was taken here.
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

/** Who listens there: a process id, 'unknown', or nobody. */
function ask(path: string): Promise<string | 'unknown' | 'dead' | 'gone'> {
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
      // Only a refusal says that nobody listens; EAGAIN, for one, is an owner with much to do.
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

function locked(directory: string, owner: string): StoreError {
  const who = owner === 'unknown' ? 'another process' : `process ${owner}`;
  return new StoreError('locked', `Cannot open "${directory}": ${who} has it open`);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
