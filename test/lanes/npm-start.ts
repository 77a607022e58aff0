// `npm start` as people use it, in a clone that is compiled already, for tests that end one of its processes and look at the others.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Traces, tracesOf } from './process-traces.ts';
import { ready, root } from './running-server.ts';

export type NpmStart = {
  readonly dataDir: string;
  /** What was started: npm, or what has started npm. */
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly pids: Pids;
  readonly traces: Traces;
  /** The program has ended in order: its last act is to remove this file. */
  readonly hasEndedInOrder: () => boolean;
};

/** `program` is the launcher where there is one. */
export type Pids = Readonly<Record<'npm' | 'starter' | 'program', number>>;

export function makeClone(): { readonly directory: string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-clone-'));
  for (const name of ['bin', 'dist', 'node_modules']) {
    symlinkSync(join(root, name), join(directory, name));
  }
  // With the times of the originals, so that nothing has to be compiled; without sources for the same reason.
  for (const name of ['scripts', 'package.json', 'package-lock.json']) {
    cpSync(join(root, name), join(directory, name), { recursive: true, preserveTimestamps: true });
  }
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** `wrap` says what runs npm, for example a terminal. */
export async function npmStart(
  clone: string,
  flags: readonly string[],
  wrap: (argv: readonly string[]) => readonly string[] = (argv) => argv,
): Promise<NpmStart> {
  const dataDir = mkdtempSync(join(clone, 'data-'));
  const argv = ['npm', 'start', '--', ...flags, '--secure-port', '0', '--data-dir', dataDir];
  const [command = '', ...args] = wrap(argv);
  // These tests run under npm too.
  const { npm_lifecycle_event: _, ...env } = process.env;
  const child = spawn(command, args, { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      output += String(bytes);
    });
  await ready(child);
  const stateFile = join(dataDir, 'up.json');
  const state = JSON.parse(readFileSync(stateFile, 'utf8'));
  const starter = parentOf(state.pid);
  return {
    ...{ dataDir, process: child, output: () => output },
    pids: { npm: npmAbove(starter, child.pid ?? 0), starter, program: state.pid },
    traces: tracesOf(child.pid ?? 0),
    hasEndedInOrder: () => !existsSync(stateFile),
  };
}

/** There may be a shell between. Without npm, `top` is what plays its part. */
function npmAbove(pid: number, top: number): number {
  const parent = parentOf(pid);
  const isNpm = readFileSync(`/proc/${parent}/cmdline`, 'utf8').startsWith('npm');
  return isNpm || parent === top || parent <= 1 ? parent : npmAbove(parent, top);
}

function parentOf(pid: number): number {
  const found = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]);
}
