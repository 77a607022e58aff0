// Starts the real binary in a directory of its own and says what a client needs to talk to it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Target } from './target.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export type Binary = {
  readonly pid: number;
  readonly target: Target;
  /** From the start of the process to the words that it is ready. */
  readonly readyMs: number;
  readonly stop: () => Promise<void>;
  /** For a server that does not hear any more. */
  readonly kill: () => Promise<void>;
};

export type BinaryOptions = {
  readonly command: 'up' | 'apiserver';
  readonly directory: string;
  /** Besides the usual. */
  readonly flags?: readonly string[];
  /** Gets what the server logs; absent: it goes where ours goes. */
  readonly logged?: (text: string) => void;
};

const readyWords = { up: 'Press Ctrl-C to stop it.', apiserver: 'kubeconfig in ' } as const;

export async function startBinary({
  command,
  directory,
  flags = [],
  logged,
}: BinaryOptions): Promise<Binary> {
  const kubeconfig = join(directory, 'kubeconfig');
  const begin = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin', 'fairlead'),
      ...[command, '--bind-address', '127.0.0.1', '--secure-port', '0'],
      ...(command === 'up' && !flags.includes('--network') ? ['--network', 'none'] : []),
      // No controller makes the accounts that pods need.
      ...(command === 'apiserver' ? ['--disable-admission-plugins', 'ServiceAccount'] : []),
      ...['--data-dir', join(directory, 'data'), '--write-kubeconfig', kubeconfig],
      ...['--service-cluster-ip-range', '10.96.0.0/16,fd00:96::/108', '--log-level', 'warn'],
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', logged === undefined ? 'inherit' : 'pipe'] },
  );
  child.stderr?.on('data', (chunk: Buffer) => logged?.(String(chunk)));
  await words(child, readyWords[command]);
  const readyMs = performance.now() - begin;
  return {
    pid: child.pid ?? 0,
    target: readTarget(kubeconfig, join(directory, 'data')),
    readyMs,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

/** By events: leaving a loop over the stream would close it, and the server still has things to say. */
function words(child: ChildProcess, wanted: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes(wanted)) resolve();
    });
    child.once('exit', () =>
      reject(new Error(`Cannot start the server: it ended first, saying "${text}"`)),
    );
  });
}

export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** The kubeconfig has one `key: value` a line. */
function readTarget(kubeconfig: string, dataDirectory: string): Target {
  const text = readFileSync(kubeconfig, 'utf8');
  const value = (name: string): string => new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '';
  const pem = (name: string): string => Buffer.from(value(name), 'base64').toString('utf8');
  const { port } = new URL(value('server'));
  return {
    port: Number(port),
    ca: pem('certificate-authority-data'),
    cert: pem('client-certificate-data'),
    key: pem('client-key-data'),
    serverCert: readFileSync(join(dataDirectory, 'pki', 'apiserver.crt'), 'utf8'),
    serverKey: readFileSync(join(dataDirectory, 'pki', 'apiserver.key'), 'utf8'),
  };
}
