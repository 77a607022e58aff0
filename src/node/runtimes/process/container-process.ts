// What it takes to start the processes of one container.
import type { ContainerToRun } from '../runtime.ts';
import type { LogLimits } from './apply-log-file.ts';
import type { Isolation } from './probe-host.ts';

export type ContainerProcess = {
  readonly container: ContainerToRun;
  readonly argv: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** `/` for the host's own files. */
  readonly root: string;
  readonly isolation: Isolation;
  readonly now: () => number;
  readonly logLimits?: LogLimits;
  /** Told of its first process, and of programs that are started beside it, before they have done anything of note. */
  readonly onSpawn?: (pid: number) => void;
};
