// How a program is talked to: by three pipes, or by a terminal.
import type { ChildProcess } from 'node:child_process';
import { chownSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import {
  openPseudoTerminal,
  type PseudoTerminal,
  type TerminalSize,
} from '../../../host/pseudo-terminal.ts';
import type { ContainerEnd } from '../runtime.ts';

export type ProgramStreams = {
  readonly child: ChildProcess;
  /** Absent when it has none. */
  readonly input?: Writable;
  readonly output: Readable;
  /** Absent for a terminal, which has one output for both. */
  readonly errors?: Readable;
  /** Nothing without a terminal. */
  readonly resize: (size: TerminalSize) => void;
  /** When it has ended and all that it wrote is read. Never rejects: what did not start ends at once with 128. */
  readonly ended: Promise<ContainerEnd>;
};

/** Starts the program, with words before its own, and a group and session of its own. */
export type Launch = (
  before: readonly string[],
  stdio: readonly ('pipe' | 'ignore')[],
) => ChildProcess;

export type StreamWish = {
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
  /** Who shall own the terminal, where that is not who the agent is. */
  readonly user?: { readonly uid: number; readonly gid?: number };
};

export function launchWithStreams(wish: StreamWish, launch: Launch): ProgramStreams {
  return wish.hasTerminal ? launchInTerminal(wish, launch) : launchWithPipes(wish, launch);
}

function launchWithPipes({ hasInput }: StreamWish, launch: Launch): ProgramStreams {
  const child = launch([], [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('Cannot read a program without pipes');
  // It may end before it has read what it was sent.
  stdin?.on('error', () => stdin.destroy());
  return {
    child,
    ...(stdin === null ? {} : { input: stdin }),
    output: stdout,
    errors: stderr,
    resize: () => {},
    ended: endOf(child, [stdout, stderr]),
  };
}

/** The session's leader gets the terminal that it opens first. */
const takeTerminal = 'exec <>"$0" >&0 2>&0 && exec "$@"';

function launchInTerminal({ hasInput, user }: StreamWish, launch: Launch): ProgramStreams {
  const terminal = openPseudoTerminal();
  const { master, path } = terminal;
  if (user !== undefined) chownSync(path, user.uid, user.gid ?? user.uid);
  let child: ChildProcess;
  try {
    child = launch(['/bin/sh', '-c', takeTerminal, path], ['ignore', 'ignore', 'ignore']);
  } catch (error) {
    terminal.release();
    master.destroy();
    throw error;
  }
  // EIO is how a master hears that no slave is left.
  master.on('error', () => master.destroy());
  child.once('exit', terminal.release).once('error', terminal.release);
  return {
    child,
    ...(hasInput ? { input: master } : {}),
    output: master,
    resize: resizer(terminal),
    ended: endOf(child, [master]),
  };
}

const resizer =
  ({ resize }: PseudoTerminal) =>
  (size: TerminalSize): void =>
    resize(size);

/** How long an output may stay open and silent after the program's end: another process may hold it. */
const quietMs = 1000;

function endOf(child: ChildProcess, outputs: readonly Readable[]): Promise<ContainerEnd> {
  const closed = outputs.map((output) => closeOf(output));
  return new Promise((resolve) => {
    child.once('error', () => {
      for (const output of outputs) output.destroy();
      resolve({ exitCode: 128 });
    });
    child.once('exit', (code, signalName) => {
      const signal = signalName === null ? undefined : constants.signals[signalName];
      const end =
        signal === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + signal, signal };
      const watches = outputs.map((output) => closeWhenQuiet(output));
      void Promise.all(closed).then(() => {
        for (const watch of watches) clearInterval(watch);
        resolve(end);
      });
    });
  });
}

const closeOf = (stream: Readable): Promise<void> =>
  new Promise((resolve) => stream.once('close', () => resolve()));

/** One that waits for a slow reader is not quiet. */
function closeWhenQuiet(output: Readable): NodeJS.Timeout {
  let wasRead = true;
  output.on('data', () => {
    wasRead = true;
  });
  // A listener must not set a stream flowing that its reader holds back.
  return setInterval(() => {
    if (!wasRead && output.readableFlowing !== false && output.readableLength === 0)
      output.destroy();
    wasRead = false;
  }, quietMs);
}
