// The contract of a subcommand: its flags and its action.
import type { Command as Commander } from 'commander';

export type CommandDefinition = {
  /** Adds flags and arguments, and the action. */
  readonly configure: (command: Commander, world: World) => void;
};

/** The summary of a subcommand for the help, and how to load the rest. */
export type ListedCommand = {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
};

export type Terminal = {
  readonly columns: number;
  readonly rows: number;
};

/** The environment of a command; tests pass their own. */
export type World = {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: () => string;
  readonly now: () => number;
  /** When the process started, on the clock of `now`. */
  readonly startedAt: number;
  /** Absent where the output is not a terminal. */
  readonly terminal?: Terminal;
  /** Whether the reader of the output is gone, as of `| head`: for commands that go on by themselves. */
  readonly isOutputClosed?: () => boolean;
  /** The next line that a person types, undefined when there is none; absent where the input is not a terminal. */
  readonly readLine?: () => Promise<string | undefined>;
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal;
  /** Started as `kubectl fairlead`: kubeconfigs are found as kubectl finds them. */
  readonly isKubectlPlugin?: boolean;
};

/** An error of usage: printed without a stack, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The command failed: printed without a stack, exit code 1 unless set. Without a message, it was already reported. */
export class FailedError extends Error {
  readonly exitCode: number;

  constructor(message = '', options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.name = 'FailedError';
    this.exitCode = options.exitCode ?? 1;
  }
}
