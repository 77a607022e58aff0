// What a subcommand is: a name, its flags, and what it does.
import type { Command as Commander } from 'commander';

export type CommandDefinition = {
  /** Adds flags and arguments, and the action. */
  readonly configure: (command: Commander, world: World) => void;
};

/** What help shows of a subcommand, and how to get the rest. */
export type ListedCommand = {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
};

/** The world outside, as commands see it; tests give their own. */
export type World = {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: () => string;
  readonly now: () => number;
  /** When the process started, on the clock of `now`. */
  readonly startedAt: number;
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal;
};

/** A mistake of the user: printed without a stack, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Something could not be done: printed without a stack, exit code 1 or another. Without a message it has been told already. */
export class FailedError extends Error {
  readonly exitCode: number;

  constructor(message = '', options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.name = 'FailedError';
    this.exitCode = options.exitCode ?? 1;
  }
}
