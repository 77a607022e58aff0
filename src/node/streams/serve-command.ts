// exec and attach: connects a client's streams to a program of a container, and reports how it ended.
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

/** Resolves when the connection has closed, and the program has terminated. */
export async function serveExec(
  running: RunningContainer,
  { command, hasTerminal }: CommandRequest,
  streams: CommandStreams,
): Promise<void> {
  const [program = '', ...args] = command;
  const entered = await enter(() => running.enter([program, ...args], { hasTerminal }));
  if (!('ended' in entered)) return streams.finish(entered);
  const { input, output, errors, closed } = streams;
  // The program is killed when the client disconnects.
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
    // Such as a missing program, or no terminal available.
    if (!(error instanceof Error)) throw error;
    const text = error instanceof ContainerStartError ? error.message : String(error);
    return internalStatus(`error executing command in container: ${text}`);
  }
}

/** Unwanted output is read too, or the program would block on a full pipe. */
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
 * Limit of output that a slow client has not read. A container never waits for its clients: upstream it does, and a suspended terminal
 * blocks a service.
 */
const maxUnread = 4 * 1024 * 1024;

export type AttachedContainer = {
  readonly running: RunningContainer;
  /** stdinOnce: its input is closed with the first client that had it. */
  readonly hasInputOnce: boolean;
};

/** Resolves when the connection has closed; the container keeps running. */
export async function serveAttach(
  { running, hasInputOnce }: AttachedContainer,
  { hasTerminal }: CommandRequest,
  streams: CommandStreams,
): Promise<void> {
  const { input, closed } = streams;
  const follow = followOutput(running, streams);
  if (input !== undefined && running.input !== undefined) {
    pipeInput(input, running.input, hasInputOnce && !hasTerminal);
  } else input?.resume();
  followSizes(streams.sizes, running.resize);
  const ended: Promise<ContainerEnd | undefined> = running.ended;
  const end = await Promise.race([ended, closed.then(() => undefined), follow.tooSlow]);
  follow.stop();
  if (input !== undefined && running.input !== undefined) input.unpipe(running.input);
  await streams.finish(end === 'too slow' ? internalStatus(slowText) : succeeded);
}

const slowText = 'error attaching to container: the client does not read what the container writes';

function pipeInput(input: Readable, target: Writable, isOnce: boolean): void {
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
