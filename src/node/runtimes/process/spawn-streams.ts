// How a program is talked to: by three pipes, or by a terminal.
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

/** Starts the program with these as its first three descriptors, and a group of its own. A terminal is still to be taken as its own. */
export type Launch = (
  stdio: readonly ('pipe' | 'ignore' | number)[],
  terminal?: PseudoTerminal,
) => ChildProcess;

export type StreamChoice = {
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
  /** Who shall own the terminal, where that is not who the agent is. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Output waits for who reads it. Without, what comes when nobody listens yet may be lost with the program's end. */
  readonly isOutputKept?: boolean;
  /** Opens the device that makes the terminal; absent: the machine's. */
  readonly openTerminals?: () => number;
};

export function launchWithStreams(choice: StreamChoice, launch: Launch): ProgramStreams {
  return choice.hasTerminal ? launchInTerminal(choice, launch) : launchWithPipes(choice, launch);
}

function launchWithPipes(
  { hasInput, isOutputKept = false }: StreamChoice,
  launch: Launch,
): ProgramStreams {
  const child = launch([hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('Cannot read a program without pipes');
  // It may end before it has read what it was sent.
  stdin?.on('error', () => stdin.destroy());
  const [output, errors] = isOutputKept ? [kept(stdout), kept(stderr)] : [stdout, stderr];
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

/** Node throws away what is unread in the pipes of a program that ends. */
function kept(source: Readable): Readable {
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
  // EIO is how a master hears that no slave is left.
  master.on('error', () => master.destroy());
  child.once('exit', terminal.release).once('error', terminal.release);
  return {
    child,
    ...(hasInput ? { input: master } : {}),
    output: master,
    resize: resizer(terminal),
    ended: endOf(child, [{ source: master, read: master }]),
  };
}

const resizer =
  ({ resize }: PseudoTerminal) =>
  (size: TerminalSize): void =>
    resize(size);

/** How long an output may stay open and silent after the program's end: another process may hold it. */
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
function closeWhenQuiet({ source, read }: Output): NodeJS.Timeout {
  let wasRead = true;
  source.on('data', () => {
    wasRead = true;
  });
  // A listener must not set a stream flowing that its reader holds back.
  return setInterval(() => {
    const isHeldBack = source.readableFlowing === false || read.readableLength > 0;
    if (!wasRead && !isHeldBack && source.readableLength === 0) source.destroy();
    wasRead = false;
  }, quietMs);
}
