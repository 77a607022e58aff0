// Runs the exec plugin of a kubeconfig and reads the credentials that it prints. The plugin is the user's own program: it has the user's
// environment and, where it may ask questions, the terminal. Its output, its errors and its time are limited.
import { spawn } from 'node:child_process';
import { type ExecCredential, execInfo, parseExecCredential } from './exec-credential.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { ExecPlugin } from './kubeconfig-user.ts';
import type { Connection } from './read-kubeconfig.ts';

export type PluginWorld = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person can answer questions at standard input. */
  readonly isTerminal: boolean;
  /** Gets what the plugin writes to standard error. */
  readonly writeError: (bytes: Uint8Array) => void;
  readonly limits: PluginLimits;
};

export type PluginLimits = {
  /** Without a terminal no one can sign in, and a token comes within seconds. */
  readonly timeoutMs: number;
  /** With one, a person may have to find a second factor. */
  readonly interactiveTimeoutMs: number;
  /** A certificate chain with its key has some ten thousand bytes. */
  readonly outputBytes: number;
  /** What the plugin says to people; more is dropped. */
  readonly errorBytes: number;
};

const defaultLimits: PluginLimits = {
  timeoutMs: 60_000,
  interactiveTimeoutMs: 600_000,
  outputBytes: 1024 * 1024,
  errorBytes: 64 * 1024,
};

export function systemPluginWorld(): PluginWorld {
  return {
    env: process.env,
    isTerminal: process.stdin.isTTY === true,
    writeError: (bytes) => void process.stderr.write(bytes),
    limits: defaultLimits,
  };
}

/** Throws a KubeconfigError that names the plugin and what was wrong. */
export async function runExecPlugin(
  plugin: ExecPlugin,
  connection: Connection,
  world: PluginWorld,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const isInteractive = plugin.interactiveMode !== 'Never' && world.isTerminal;
  if (plugin.interactiveMode === 'Always' && !isInteractive) {
    throw failure(plugin, 'it asks questions, and standard input is not a terminal');
  }
  const info = execInfo(plugin, connection, isInteractive);
  try {
    const text = await outputOf(plugin, { info, isInteractive, signal }, world);
    return parseExecCredential(text, plugin.apiVersion);
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    throw failure(plugin, error instanceof Error ? error.message : String(error), error);
  }
}

function failure({ command }: ExecPlugin, why: string, cause?: unknown): KubeconfigError {
  return new KubeconfigError(
    `Cannot get credentials from the exec plugin "${command}" of the kubeconfig: ${why}`,
    ...(cause === undefined ? [] : [{ cause }]),
  );
}

type Started = {
  readonly info: string;
  readonly isInteractive: boolean;
  readonly signal: AbortSignal;
};

function outputOf(
  plugin: ExecPlugin,
  { info, isInteractive, signal }: Started,
  { env, writeError, limits, isTerminal }: PluginWorld,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: info },
      stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    });
    const output: Buffer[] = [];
    let size = 0;
    let errorSize = 0;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      child.kill('SIGKILL');
      // Programs that the plugin started may hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
      settle();
    };
    const fail = (why: string, cause?: unknown): void =>
      end(() => reject(failure(plugin, why, cause)));
    const abort = (): void => fail('it was interrupted');
    signal.addEventListener('abort', abort, { once: true });
    const timeoutMs = isTerminal ? limits.interactiveTimeoutMs : limits.timeoutMs;
    const timer = setTimeout(() => fail(`it did not end within ${timeoutMs / 1000} s`), timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      output.push(chunk);
      if (size > limits.outputBytes) fail(`it printed more than ${limits.outputBytes} bytes`);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      const rest = chunk.subarray(0, Math.max(0, limits.errorBytes - errorSize));
      errorSize += chunk.length;
      if (rest.length > 0) writeError(rest);
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      fail(startFailureText(plugin, error), error),
    );
    child.once('close', (code, signal) => {
      if (code === 0) return end(() => resolve(Buffer.concat(output).toString('utf8')));
      fail(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`);
    });
  });
}

function startFailureText(
  { command, installHint }: ExecPlugin,
  error: NodeJS.ErrnoException,
): string {
  if (error.code === 'EACCES') return 'it may not be executed';
  if (error.code !== 'ENOENT') return error.message;
  const where = command.includes('/') ? 'it is not there' : 'there is no such program in $PATH';
  return installHint === undefined ? where : `${where}\n\n${installHint.trim()}`;
}
