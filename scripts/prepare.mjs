// Makes a clone runnable: installs the locked dependencies and compiles, each only when something changed. A second caller
// waits and uses the result.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.fairlead-lock');
const built = join(root, 'dist', '.built');

/** Ends this process where the step fails; resolves where the signal ends the step. */
async function run(signal, command, args) {
  if (signal?.aborted) return;
  // In a group of its own: the compiler is a program that its starter does not take with it.
  const step = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2], detached: true });
  const end = () => endGroup(step.pid);
  signal?.addEventListener('abort', end);
  const [status] = await once(step, 'exit');
  signal?.removeEventListener('abort', end);
  if (status !== 0 && !signal?.aborted) process.exit(status ?? 1);
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    // It has ended by itself.
    if (error.code !== 'ESRCH') throw error;
  }
}

function newest(path) {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((entry) => newest(join(path, entry))));
}

/** Where the signal ends it, the next start does what was left undone. */
export async function prepare(signal) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 15)) {
    process.stderr.write(
      `Fairlead needs Node.js 20.15 or newer; this is ${process.versions.node}.\n`,
    );
    process.exit(1);
  }
  if (isPrepared()) return;
  const release = await lock(signal);
  try {
    if (!isInstalled()) await install(signal);
    if (!isBuilt()) await compile(signal);
  } finally {
    release();
  }
}

const isPrepared = () => isInstalled() && isBuilt();

const lockText = () => readFileSync(join(root, 'package-lock.json'), 'utf8');

const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lockText();

function isBuilt() {
  if (!existsSync(built)) return false;
  const sources = ['src', 'test', 'tsconfig.json', 'package.json'].map((p) =>
    newest(join(root, p)),
  );
  return statSync(built).mtimeMs >= Math.max(...sources);
}

async function install(signal) {
  const text = lockText();
  process.stderr.write('Installing the locked dependencies...\n');
  await run(signal, 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (!signal?.aborted) writeFileSync(stamp, text);
}

async function compile(signal) {
  if (signal?.aborted) return;
  process.stderr.write('Compiling...\n');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(signal, process.execPath, [compiler, '-p', root]);
  await run(signal, process.execPath, [join(root, 'scripts', 'bundle.mjs')]);
  if (!signal?.aborted) writeFileSync(built, '');
}

/**
 * One process at a time for each clone. A socket with an abstract name is the lock, because it vanishes with its owner however that ends;
 * only Linux has such names; elsewhere there is no waiting.
 */
async function lock(signal) {
  if (process.platform !== 'linux') return () => {};
  const clone = createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 16);
  const name = `\0fairlead-prepare-${process.getuid()}-${clone}`;
  let hasReported = false;
  while (!signal?.aborted) {
    const server = createServer();
    const waiting = new Set();
    server.on('connection', (socket) => {
      waiting.add(socket.on('error', () => {}).on('close', () => waiting.delete(socket)));
    });
    try {
      server.listen(name);
      await once(server, 'listening');
      return () => {
        server.close();
        for (const socket of waiting) socket.destroy();
      };
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error;
    }
    if (!hasReported) process.stderr.write('Another process is preparing this clone, waiting...\n');
    hasReported = true;
    await ownersEnd(name, signal);
  }
  return () => {};
}

/** The holder of the lock keeps connections open until it releases the lock or exits. */
function ownersEnd(name, signal) {
  return new Promise((resolve) => {
    const socket = connect(name);
    const end = () => socket.destroy();
    signal?.addEventListener('abort', end);
    // Its end may come as an error; 'close' follows.
    socket
      .on('error', () => {})
      .on('close', () => {
        signal?.removeEventListener('abort', end);
        resolve();
      });
    socket.resume();
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await prepare();
