// Programs beside a container's own: in its mounts and its network, under its root. They end with it.
import { type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { insideNamespace } from '../../../host/namespaces.ts';
import {
  ContainerStartError,
  type ContainerToRun,
  type EnteredProgram,
  type EnterWish,
} from '../runtime.ts';
import { killSession, killWithMounts } from './apply-signals.ts';
import type { ContainerProcess } from './container-process.ts';
import { findProgram } from './probe-host.ts';
import { type HeldMounts, holdMounts } from './probe-process.ts';
import { launchWithStreams } from './spawn-streams.ts';

export type Entrance = {
  readonly enter: (argv: readonly [string, ...string[]], wish?: EnterWish) => EnteredProgram;
  /** The container has ended: what came in through here ends too, with all that it left behind. */
  readonly close: () => void;
};

export function createEntrance(options: ContainerProcess, pid: number): Entrance {
  const { container, isolation } = options;
  const programs = new Set<EnteredProgram>();
  /** From the first who enters on. */
  let mounts: HeldMounts | undefined;
  return {
    enter(argv, { hasTerminal } = { hasTerminal: false }) {
      requireProgram(options, argv);
      if (isolation.kind !== 'none') mounts ??= holdMounts(pid);
      const { user } = container;
      const wish = { hasInput: true, hasTerminal, ...(user === undefined ? {} : { user }) };
      const words = entering(options, pid, argv);
      const streams = launchWithStreams(wish, (before, stdio) => {
        const [program = '', ...args] = [...before, ...words];
        const cwd = isolation.kind === 'none' ? options.workingDir : '/';
        const shape: SpawnOptions = {
          env: options.variables,
          cwd,
          stdio: [...stdio],
          detached: true,
        };
        return inNetwork(container, () => spawn(program, args, shape));
      });
      const { child, input, output, errors, resize, ended } = streams;
      if (child.pid !== undefined) options.onSpawn?.(child.pid);
      const entered: EnteredProgram = {
        input: input ?? unreachable(),
        output,
        ...(errors === undefined ? {} : { errors }),
        resize,
        ended,
        kill() {
          // Once it has ended, its number may be another's.
          if (child.exitCode === null && child.signalCode === null) killSession(child.pid ?? 0);
          // Nobody reads what it still had to say.
          for (const stream of [input, output, errors]) stream?.destroy();
        },
      };
      programs.add(entered);
      void ended.then(() => programs.delete(entered));
      return entered;
    },
    close() {
      for (const program of programs) program.kill();
      // Each container has mounts of its own: who sees them belongs to it.
      if (mounts !== undefined) killWithMounts(mounts.name);
      mounts?.release();
    },
  };
}

function unreachable(): never {
  throw new Error('Cannot write to a program that was started without input');
}

/** Throws what a container runtime says of a program that is not there. */
export function requireProgram(
  { variables, root, container }: ContainerProcess,
  [program]: readonly [string, ...string[]],
): void {
  const isMounted = container.mounts.some(({ path }) => program.startsWith(`${path}/`));
  // What a volume brings is not there yet, and a relative path depends on where the program starts.
  if (isMounted || program.startsWith('.')) return;
  if (findProgram(program, variables.PATH, root) !== undefined) return;
  const why = program.includes('/')
    ? `stat ${program}: no such file or directory`
    : 'executable file not found in $PATH';
  throw new ContainerStartError('RunContainerError', `exec: ${JSON.stringify(program)}: ${why}`);
}

function entering(
  { container, workingDir, isolation }: ContainerProcess,
  pid: number,
  argv: readonly string[],
): readonly string[] {
  if (isolation.kind === 'none') return argv;
  const { tools, flags } = isolation;
  const user = flags.includes('--user') ? ['--user', '--preserve-credentials'] : [];
  const identity = [
    ...(container.user?.gid === undefined ? [] : [`--setgid=${container.user.gid}`]),
    ...(container.user === undefined ? [] : [`--setuid=${container.user.uid}`]),
  ];
  const root = [`--root=${join(container.directory, 'root')}`, `--wd=${workingDir}`];
  return [
    ...[tools.nsenter, '--target', String(pid), '--mount', '--uts', ...user, '--'],
    ...[tools.unshare, ...root, ...identity, '--', ...argv],
  ];
}

export function inNetwork<T>({ namespacePath }: ContainerToRun, work: () => T): T {
  return namespacePath === undefined ? work() : insideNamespace(namespacePath, work);
}
