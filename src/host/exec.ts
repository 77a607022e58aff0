// Runs another program until it exits: text in, text out. The error of a failure has the command, the exit code and the output.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { insideNamespace } from './namespaces.ts';

export type Command = {
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly [string, ...string[]];
  /** Written to its standard input, as fast as the program reads; absent: standard input is empty. */
  readonly stdin?: string | Iterable<string>;
  /** Called with its standard output as it arrives, which is then not part of the result. */
  readonly output?: (part: Buffer) => void;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Network namespace to start it in; absent: that of this process. */
  readonly namespacePath?: string;
  /** Killed after this time. */
  readonly timeoutMs?: number;
  /** Killed when it writes more than this; 1 MiB when left out. */
  readonly maxOutputBytes?: number;
};

export type CommandOutput = { readonly stdout: string; readonly stderr: string };

export type RunCommand = (command: Command, signal?: AbortSignal) => Promise<CommandOutput>;

/** How a program failed. */
export type CommandFailure = {
  readonly argv: readonly string[];
  /** Absent when it did not start or was killed. */
  readonly exitCode?: number;
  /** `SIGKILL` and the like, if a signal ended it. */
  readonly signalName?: string;
  /** Why it did not start (`ENOENT`, `EACCES`) or was stopped (`ETIMEDOUT`, `ENOBUFS`, `ABORT_ERR`). */
  readonly code?: string;
  readonly stdout: string;
  readonly stderr: string;
};

/** Enough for a person to read. */
const maxMessageCharacters = 2000;
const defaultOutputBytes = 1024 * 1024;

export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly failure: CommandFailure;

  constructor(failure: CommandFailure) {
    const how =
      failure.code ??
      (failure.signalName === undefined
        ? `exit code ${failure.exitCode}`
        : `killed by ${failure.signalName}`);
    const output = failure.stderr.trim().slice(0, maxMessageCharacters);
    super(`Cannot run "${failure.argv.join(' ')}": ${how}${output === '' ? '' : `: ${output}`}`);
    this.failure = failure;
  }
}

/** The program is not installed, or not in PATH. */
export function isProgramMissing(error: unknown): boolean {
  return error instanceof CommandError && error.failure.code === 'ENOENT';
}

/** Whether the program exited with this code. */
export function hasExitCode(error: unknown, exitCode: number): boolean {
  return error instanceof CommandError && error.failure.exitCode === exitCode;
}

export const runCommand: RunCommand = async (command, signal) => {
  if (signal?.aborted) throw failed(command, { code: 'ABORT_ERR' });
  const child = start(command);
  const watch = watchOver(child, command, signal);
  try {
    const [ended] = await Promise.all([watch.ended, feed(child, command.stdin)]);
    const output = watch.output();
    const code = watch.stoppedBy() ?? ended.code;
    if (code === undefined && ended.exitCode === 0) return output;
    throw failed(command, { ...ended, ...(code === undefined ? {} : { code }), ...output });
  } finally {
    watch.release();
  }
};

function start({ argv: [program, ...args], env, namespacePath, stdin }: Command): ChildProcess {
  const options: SpawnOptions = {
    env: { ...process.env, ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  };
  return namespacePath === undefined
    ? spawn(program, args, options)
    : insideNamespace(namespacePath, () => spawn(program, args, options));
}

type Ended = Pick<CommandFailure, 'exitCode' | 'signalName' | 'code'>;

type Watch = {
  readonly ended: Promise<Ended>;
  readonly output: () => CommandOutput;
  /** Why this process killed it. */
  readonly stoppedBy: () => string | undefined;
  readonly release: () => void;
};

function watchOver(child: ChildProcess, command: Command, signal?: AbortSignal): Watch {
  let reason: string | undefined;
  const stop = (code: string): void => {
    reason ??= code;
    child.kill('SIGKILL');
  };
  const abort = (): void => stop('ABORT_ERR');
  signal?.addEventListener('abort', abort, { once: true });
  const { timeoutMs, maxOutputBytes = defaultOutputBytes, output } = command;
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => stop('ETIMEDOUT'), timeoutMs);
  const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  let size = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (part: Buffer) => {
      size += part.length;
      if (size > maxOutputBytes) stop('ENOBUFS');
      else if (name === 'stdout' && output !== undefined) output(part);
      else parts[name].push(part);
    });
  }
  const text = (name: 'stdout' | 'stderr'): string => Buffer.concat(parts[name]).toString('utf8');
  return {
    ended: new Promise((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        resolve({ code: error.code ?? error.message }),
      );
      child.once('close', (exitCode, signalName) =>
        resolve({
          ...(exitCode === null ? {} : { exitCode }),
          ...(signalName === null ? {} : { signalName }),
        }),
      );
    }),
    output: () => ({ stdout: text('stdout'), stderr: text('stderr') }),
    stoppedBy: () => reason,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

async function feed(child: ChildProcess, input: string | Iterable<string> = ''): Promise<void> {
  const { stdin } = child;
  if (stdin === null) return;
  const closed = new Promise((resolve) => stdin.once('close', resolve));
  // A program may exit before it has read everything (EPIPE); its exit code says why.
  stdin.on('error', () => stdin.destroy());
  for (const part of typeof input === 'string' ? [input] : input) {
    if (stdin.destroyed) return;
    if (stdin.write(part)) continue;
    await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), closed]);
  }
  stdin.end();
}

function failed({ argv }: Command, failure: Partial<CommandFailure>): CommandError {
  return new CommandError({ argv, stdout: '', stderr: '', ...failure });
}
