// exec and attach: leads a client's streams to a program of a container, and says how it ended.
import type { Readable, Writable } from 'node:stream';
import {
  type ContainerEnd,
  ContainerStartError,
  type EnteredProgram,
  type RunningContainer,
} from '../runtimes/runtime.ts';
import type { CommandStreams } from './serve-command-streams.ts';
import type { CommandRequest } from './stream-request.ts';
import { exitStatus, internalStatus, type StreamStatus, succeeded } from './stream-status.ts';
import { createSizeReader, type WindowSize } from './terminal-sizes.ts';

/** Resolves when the connection has ended; the program has ended then too. */
export async function serveExec(
  running: RunningContainer,
  { command, hasTerminal }: CommandRequest,
  streams: CommandStreams,
): Promise<void> {
  const [program = '', ...args] = command;
  const entered = await enter(() => running.enter([program, ...args], { hasTerminal }));
  if (!('ended' in entered)) return streams.finish(entered);
  const { input, output, errors, closed } = streams;
  // A client that has gone takes its program with it.
  void closed.then(entered.kill);
  if (input !== undefined) input.pipe(entered.input, { end: !hasTerminal });
  else if (!hasTerminal) entered.input.end();
  drain(entered.output, output);
  if (entered.errors !== undefined) drain(entered.errors, errors);
  followSizes(streams.sizes, entered.resize);
  const { exitCode } = await entered.ended;
  await streams.finish(exitStatus(exitCode));
}

async function enter(start: () => Promise<EnteredProgram>): Promise<EnteredProgram | StreamStatus> {
  try {
    return await start();
  } catch (error) {
    // Programs that are not there, terminals that are not to be had.
    if (!(error instanceof Error)) throw error;
    const text = error instanceof ContainerStartError ? error.message : String(error);
    return internalStatus(`error executing command in container: ${text}`);
  }
}

/** What nobody wants to hear is read all the same, or the program would stop at a full pipe. */
function drain(source: Readable, target: Writable | undefined): void {
  if (target === undefined) {
    source.resume();
    return;
  }
  source.pipe(target, { end: false });
  target.once('close', () => source.resume());
}

function followSizes(sizes: Readable | undefined, resize: (size: WindowSize) => void): void {
  const read = createSizeReader();
  sizes?.on('data', (bytes: Buffer) => {
    for (const size of read(bytes.toString('latin1'))) resize(size);
  });
}

/**
 * What a client may leave unread. A container never waits for who watches it: upstream does, and a terminal that someone has put to sleep
 * stops a service.
 */
const maxUnread = 4 * 1024 * 1024;

export type AttachedContainer = {
  readonly running: RunningContainer;
  /** Its input ends with the first client that had it. */
  readonly hasInputOnce: boolean;
};

/** Resolves when the connection has ended; the container goes on. */
export async function serveAttach(
  { running, hasInputOnce }: AttachedContainer,
  { hasTerminal }: CommandRequest,
  streams: CommandStreams,
): Promise<void> {
  const { input, closed } = streams;
  const follow = followOutput(running, streams);
  if (input !== undefined && running.input !== undefined) {
    leadInput(input, running.input, hasInputOnce && !hasTerminal);
  } else input?.resume();
  followSizes(streams.sizes, running.resize);
  const ended: Promise<ContainerEnd | undefined> = running.ended;
  const end = await Promise.race([ended, closed.then(() => undefined), follow.tooSlow]);
  follow.stop();
  if (input !== undefined && running.input !== undefined) input.unpipe(running.input);
  await streams.finish(end === 'too slow' ? internalStatus(slowText) : succeeded);
}

const slowText = 'error attaching to container: the client does not read what the container writes';

function leadInput(input: Readable, target: Writable, isOnce: boolean): void {
  input.pipe(target, { end: isOnce });
  if (isOnce) input.once('close', () => target.end());
}

function followOutput(
  running: RunningContainer,
  { output, errors }: CommandStreams,
): { readonly stop: () => void; readonly tooSlow: Promise<'too slow'> } {
  let stop: () => void = () => {};
  const tooSlow = new Promise<'too slow'>((resolve) => {
    stop = running.onOutput((stream, bytes) => {
      const target = stream === 'stdout' ? output : errors;
      if (target === undefined || !target.writable) return;
      target.write(bytes);
      if (target.writableLength > maxUnread) resolve('too slow');
    });
  });
  return { stop: () => stop(), tooSlow };
}
