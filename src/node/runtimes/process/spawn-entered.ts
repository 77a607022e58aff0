// Starts programs in a running container (exec, probes, hooks), with its namespaces and privileges. They terminate with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { insideNamespace } from '../../../host/namespaces.ts';
import { openBeneath } from '../../../host/open-beneath.ts';
import {
  ContainerStartError,
  type ContainerToRun,
  type EnteredProgram,
  type EnterOptions,
  type RunningContainer,
} from '../runtime.ts';
import { enterSteps } from '../sandbox/container-steps.ts';
import type { Privileges } from '../sandbox/privilege-steps.ts';
import {
  architectureOf,
  type StarterRun,
  type StarterStdio,
  spawnStarter,
} from '../sandbox/spawn-starter.ts';
import type { ContainerProcess } from './container-process.ts';
import type { Isolation } from './probe-host.ts';
import { childrenOf, namespaceOf, openNamespace } from './read-process.ts';
import { killSession } from './send-signals.ts';
import { launchWithStreams } from './spawn-streams.ts';
import { startError } from './start-error.ts';

export type Entrance = {
  readonly enter: RunningContainer['enter'];
  /** Called when the container has terminated: kills the entered programs. */
  readonly close: () => void;
};

export function createEntrance(options: ContainerProcess, pid: number): Entrance {
  const { security } = options.container;
  const programs = new Set<EnteredProgram>();
  /** Opened for the first entered program. */
  let namespaces: ContainerNamespaces | undefined;
  let isClosed = false;
  const launch = (argv: Argv, stdio: StarterStdio, hasTerminal: boolean): StarterRun => {
    if (options.isolation.kind === 'none') return launchPlain(options, argv, stdio);
    namespaces ??= openNamespaces(pid);
    return launchInside(
      { options, isolation: options.isolation, namespaces, argv, hasTerminal },
      stdio,
    );
  };
  return {
    async enter(argv, { hasTerminal }: EnterOptions = { hasTerminal: false }) {
      if (isClosed) throw notRunning();
      let run: StarterRun | undefined;
      const choice = {
        hasInput: true,
        hasTerminal,
        isOutputBuffered: true,
        ...(security.uid === 0 ? {} : { owner: security }),
        ...(options.isolation.kind === 'none' ? {} : { openTerminals: () => openTerminals(pid) }),
      };
      const streams = launchWithStreams(choice, (stdio) => {
        run = launch(argv, stdio, hasTerminal);
        return run.child;
      });
      const entered = enteredProgram(streams);
      programs.add(entered);
      void streams.ended.then(() => programs.delete(entered));
      const problem = await run?.problem;
      if (problem === undefined) return entered;
      entered.kill();
      throw startError(problem, argv);
    },
    close() {
      isClosed = true;
      for (const program of programs) program.kill();
      namespaces?.release();
    },
  };
}

type Argv = readonly [string, ...string[]];

const notRunning = (): ContainerStartError =>
  new ContainerStartError('RunContainerError', 'the container is not running');

function enteredProgram({
  child,
  input,
  output,
  errors,
  resize,
  ended,
}: ReturnType<typeof launchWithStreams>): EnteredProgram {
  return {
    input: input ?? unreachable(),
    output,
    ...(errors === undefined ? {} : { errors }),
    resize,
    ended,
    kill() {
      // After its termination the process id may be reused.
      if (child.exitCode === null && child.signalCode === null) killEntered(child);
      // Remaining output is not read.
      for (const stream of [input, output, errors]) stream?.destroy();
    },
  };
}

/** The program is a child of the process outside, and a session leader. */
function killEntered({ pid = 0 }: ChildProcess): void {
  for (const inside of childrenOf(pid)) killSession(inside);
  killSession(pid);
}

function unreachable(): never {
  throw new Error('Cannot write to a program that was started without input');
}

type ContainerNamespaces = {
  /** Descriptors of namespaces, joined by the process outside, then by the program. */
  readonly outside: readonly number[];
  readonly inside: readonly number[];
  readonly release: () => void;
};

/** Opens namespaces that differ from the agent's. The container's own user namespace is joined last: it removes the right to join others. */
function openNamespaces(outside: number): ContainerNamespaces {
  const [first] = childrenOf(outside);
  if (first === undefined) throw notRunning();
  const isOther = (pid: number, kind: string): boolean =>
    namespaceOf(pid, kind) !== namespaceOf('thread-self', kind);
  const opened: number[] = [];
  const open = (pid: number, kind: string): readonly number[] => {
    if (!isOther(pid, kind)) return [];
    const descriptor = openNamespace(pid, kind);
    if (descriptor !== undefined) opened.push(descriptor);
    return descriptor === undefined ? [] : [descriptor];
  };
  const hasOwnUser = namespaceOf(outside, 'user') !== namespaceOf(first, 'user');
  const namespaces = {
    outside: [...open(outside, 'user'), ...open(first, 'pid')],
    inside: [
      ...['mnt', 'uts', 'ipc', 'cgroup', 'net'].flatMap((kind) => open(first, kind)),
      ...(hasOwnUser ? open(first, 'user') : []),
    ],
    release: () => {
      for (const descriptor of opened) closeSync(descriptor);
    },
  };
  // The process id may have been reused meanwhile.
  if (childrenOf(outside)[0] === first) return namespaces;
  namespaces.release();
  throw notRunning();
}

/** The container's devpts, so that programs find their terminal by name. */
function openTerminals(outside: number): number {
  const [first] = childrenOf(outside);
  if (first === undefined) throw notRunning();
  const root = openSync(`/proc/${first}/root`, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const flags = constants.O_RDWR | constants.O_NOCTTY;
    return openBeneath(root, 'dev/pts/ptmx', { flags });
  } finally {
    closeSync(root);
  }
}

type Entering = {
  readonly options: ContainerProcess;
  readonly isolation: Extract<Isolation, { kind: 'namespaces' }>;
  readonly namespaces: ContainerNamespaces;
  readonly argv: Argv;
  readonly hasTerminal: boolean;
};

const firstPassedDescriptor = 4;

function launchInside(
  { options, isolation, namespaces, argv, hasTerminal }: Entering,
  stdio: StarterStdio,
): StarterRun {
  const { variables, workingDir, groupFiles, maxProcesses } = options;
  const passedDescriptor = (index: number): number => firstPassedDescriptor + index;
  const steps = enterSteps(
    {
      ...{ argv, variables, workingDir, hasTerminal },
      privileges: privilegesOf(options, isolation),
      outside: namespaces.outside.map((_, index) => passedDescriptor(index)),
      inside: namespaces.inside.map((_, index) =>
        passedDescriptor(namespaces.outside.length + index),
      ),
      groupFiles,
      ...(maxProcesses === undefined ? {} : { maxProcesses }),
    },
    architectureOf(process.arch) ?? 'x64',
  );
  return spawnStarter(steps, stdio, [...namespaces.outside, ...namespaces.inside]);
}

function launchPlain(
  { variables, workingDir, onSpawn }: ContainerProcess,
  [program, ...args]: Argv,
  stdio: StarterStdio,
): StarterRun {
  const child = spawn(program, args, {
    env: variables,
    cwd: workingDir,
    stdio: [...stdio],
    detached: true,
  });
  if (child.pid !== undefined) onSpawn?.(child.pid);
  const problem: StarterRun['problem'] = new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ what: `run ${program}`, code: error.code ?? error.message }),
    );
    child.once('spawn', () => resolve(undefined));
  });
  return { child, problem };
}

export function privilegesOf(
  { container }: ContainerProcess,
  { isOnlyUser }: Extract<Isolation, { kind: 'namespaces' }>,
): Privileges {
  const { uid, gid, groups, capabilities, hasNoNewPrivileges, seccomp } = container.security;
  return {
    ...{ identity: { uid, gid, groups }, capabilities, hasNoNewPrivileges, seccomp, isOnlyUser },
    // Other users could not change owners anyway.
    ignoresOwners: isOnlyUser && uid === 0 && container.rootImage !== undefined,
  };
}

export function inNetwork<T>({ namespacePath }: ContainerToRun, work: () => T): T {
  return namespacePath === undefined ? work() : insideNamespace(namespacePath, work);
}
