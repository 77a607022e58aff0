// Starts a program with pipes or a terminal.
import type { ChildProcess } from 'node:child_process';
import { fchownSync } from 'node:fs';
import { constants } from 'node:os';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import {
  openPseudoTerminal,
  type PseudoTerminal,
  type TerminalSize,
} from '../../../host/pseudo-terminal.ts';
import type { ContainerEnd } from '../runtime.ts';

export type ProgramStreams = {
  readonly child: ChildProcess;
  /** Absent: it has no input. */
  readonly input?: Writable;
  readonly output: Readable;
  /** Absent for a terminal, which has one output for both. */
  readonly errors?: Readable;
  /** Does nothing without a terminal. */
  readonly resize: (size: TerminalSize) => void;
  /** Resolves when it has terminated and its output has been read. Never rejects: a failed start ends with 128. */
  readonly ended: Promise<ContainerEnd>;
};

/** Starts the program with these as its first three descriptors, in a process group of its own. It makes the terminal its controlling one. */
export type Launch = (
  stdio: readonly ('pipe' | 'ignore' | number)[],
  terminal?: PseudoTerminal,
) => ChildProcess;

export type StreamChoice = {
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
  /** Owner of the terminal, if it is not the agent's user. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Buffers output until it is read; otherwise output before the first listener may be lost at termination. */
  readonly isOutputBuffered?: boolean;
  /** Opens the ptmx device; absent: the machine's. */
  readonly openTerminals?: () => number;
};

export function launchWithStreams(choice: StreamChoice, launch: Launch): ProgramStreams {
  return choice.hasTerminal ? launchInTerminal(choice, launch) : launchWithPipes(choice, launch);
}

function launchWithPipes(
  { hasInput, isOutputBuffered = false }: StreamChoice,
  launch: Launch,
): ProgramStreams {
  const child = launch([hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('Cannot read a program without pipes');
  // It may terminate before it has read its input.
  stdin?.on('error', () => stdin.destroy());
  const [output, errors] = isOutputBuffered
    ? [buffered(stdout), buffered(stderr)]
    : [stdout, stderr];
  return {
    child,
    ...(stdin === null ? {} : { input: stdin }),
    output,
    errors,
    resize: () => {},
    ended: endOf(child, [
      { source: stdout, read: output },
      { source: stderr, read: errors },
    ]),
  };
}

/** Node discards unread output of a program that has terminated. */
function buffered(source: Readable): Readable {
  const relay = new PassThrough();
  source.once('close', () => relay.end());
  relay.once('close', () => source.destroy());
  return source.pipe(relay, { end: false });
}

function launchInTerminal(
  { hasInput, owner, openTerminals }: StreamChoice,
  launch: Launch,
): ProgramStreams {
  const terminal = openPseudoTerminal(openTerminals);
  const { master, slave } = terminal;
  let child: ChildProcess;
  try {
    if (owner !== undefined) fchownSync(slave, owner.uid, owner.gid);
    child = launch([slave, slave, slave], terminal);
  } catch (error) {
    terminal.release();
    master.destroy();
    throw error;
  }
  // The master gets EIO when the last slave is closed.
  master.on('error', () => master.destroy());
  child.once('exit', terminal.release).once('error', terminal.release);
  return {
    child,
    ...(hasInput ? { input: master } : {}),
    output: master,
    resize: resizeOf(terminal),
    ended: endOf(child, [{ source: master, read: master }]),
  };
}

const resizeOf =
  ({ resize }: PseudoTerminal) =>
  (size: TerminalSize): void =>
    resize(size);

/** How long an output may stay open without data after the termination: another process may hold it. */
const quietMs = 1000;

type Output = { readonly source: Readable; readonly read: Readable };

function endOf(child: ChildProcess, outputs: readonly Output[]): Promise<ContainerEnd> {
  const closed = outputs.map(({ read }) => closeOf(read));
  return new Promise((resolve) => {
    child.once('error', () => {
      for (const { source, read } of outputs) {
        source.destroy();
        read.destroy();
      }
      resolve({ exitCode: 128 });
    });
    child.once('exit', (code, signalName) => {
      const signal = signalName === null ? undefined : constants.signals[signalName];
      const end =
        signal === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + signal, signal };
      const timers = outputs.map((output) => closeWhenQuiet(output));
      void Promise.all(closed).then(() => {
        for (const timer of timers) clearInterval(timer);
        resolve(end);
      });
    });
  });
}

const closeOf = (stream: Readable): Promise<void> =>
  new Promise((resolve) => stream.once('close', () => resolve()));

/** An output that waits for a slow reader is not idle. */
function closeWhenQuiet({ source, read }: Output): NodeJS.Timeout {
  let wasRead = true;
  source.on('data', () => {
    wasRead = true;
  });
  // A listener must not resume a stream that its reader has paused.
  return setInterval(() => {
    const isHeldBack = source.readableFlowing === false || read.readableLength > 0;
    if (!wasRead && !isHeldBack && source.readableLength === 0) source.destroy();
    wasRead = false;
  }, quietMs);
}
