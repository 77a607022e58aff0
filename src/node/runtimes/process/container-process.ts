// What it takes to start the processes of one container.
import type { ContainerToRun } from '../runtime.ts';
import type { Isolation } from './probe-host.ts';
import type { LogLimits } from './write-log-file.ts';

export type ContainerProcess = {
  readonly container: ContainerToRun;
  readonly argv: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** `/` for the host's own files. */
  readonly root: string;
  readonly isolation: Isolation;
  /** What the container has together with others of its pod: descriptors of namespaces. */
  readonly shared: { readonly ipc?: number; readonly pid?: number };
  /** Paths of this machine that no container sees. */
  readonly hidden: readonly { readonly path: string; readonly isDirectory: boolean }[];
  readonly now: () => number;
  readonly logLimits?: LogLimits;
  /** `cgroup.procs` of its control groups. */
  readonly groupFiles: readonly string[];
  /** How many processes its user may have (RLIMIT_NPROC). */
  readonly maxProcesses?: number;
  /** Told of processes that could not enter the group by themselves. */
  readonly onSpawn?: (pid: number) => void;
};
