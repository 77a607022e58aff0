// A process of this program in the network of a pod or a node, which is asked over the channel that Node.js gives to child processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { workerUrl } from '../../host/worker-url.ts';
import type { Ask, LiveAnswer, LiveRequest } from '../../trace/live/live-request.ts';

export type LiveProcess = { readonly ask: Ask; readonly close: () => void };

type Answered = { readonly id: number; readonly answer?: LiveAnswer; readonly error?: string };
type Waiting = {
  readonly resolve: (answer: LiveAnswer) => void;
  readonly reject: (error: Error) => void;
};

/** What it says when it cannot start: a line or two. */
const maxErrorCharacters = 1000;

/** The program to start, behind what enters the network. */
export function liveCommand(): readonly string[] {
  return [process.execPath, fileURLToPath(workerUrl('trace/serve-live-worker'))];
}

export function startLiveProcess(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): LiveProcess {
  // Maps of the state that the kernel is compared with are sent as they are.
  const child: ChildProcess = spawn(program, args, {
    ...{ stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' },
    env: { ...env },
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let errorText = '';
  let ended: Error | undefined;
  const end = (why: string): void => {
    ended ??= new Error(
      `the process there ended: ${(errorText.trim() || why).slice(0, maxErrorCharacters)}`,
    );
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  child.stderr?.on('data', (bytes: Buffer) => {
    if (errorText.length < maxErrorCharacters) errorText += bytes.toString('utf8');
  });
  child.on('message', ({ id, answer, error }: Answered) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (answer === undefined) one?.reject(new Error(error ?? 'no answer'));
    else one?.resolve(answer);
  });
  child.on('error', (error) => end(error.message));
  child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
  const ask = (request: LiveRequest): Promise<LiveAnswer> =>
    new Promise((resolve, reject) => {
      if (ended !== undefined) return reject(ended);
      last += 1;
      waiting.set(last, { resolve, reject });
      child.send({ id: last, request }, (error) => {
        if (error !== null) end(error.message);
      });
    });
  const close = (): void => {
    end('it was closed');
    // The program there is a descendant that a signal would not reach: it ends with the channel.
    if (child.connected) child.disconnect();
    child.stderr?.destroy();
    child.unref();
  };
  return { ask: ask as Ask, close };
}
