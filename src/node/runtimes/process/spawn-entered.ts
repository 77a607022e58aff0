// Programs beside a container's own: in its namespaces, under its root, with its rights and no more. They end with it.
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
  /** The container has ended: what came in through here ends too, with all that it left behind. */
  readonly close: () => void;
};

export function createEntrance(options: ContainerProcess, pid: number): Entrance {
  const { security } = options.container;
  const programs = new Set<EnteredProgram>();
  /** From the first who enters on. */
  let held: HeldContainer | undefined;
  let isClosed = false;
  const launch = (argv: Argv, stdio: StarterStdio, hasTerminal: boolean): StarterRun => {
    if (options.isolation.kind === 'none') return launchPlain(options, argv, stdio);
    held ??= holdContainer(pid);
    return launchInside({ options, isolation: options.isolation, held, argv, hasTerminal }, stdio);
  };
  return {
    async enter(argv, { hasTerminal }: EnterOptions = { hasTerminal: false }) {
      if (isClosed) throw notRunning();
      let run: StarterRun | undefined;
      const choice = {
        hasInput: true,
        hasTerminal,
        isOutputKept: true,
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
      held?.release();
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
      // Once it has ended, its number may be another's.
      if (child.exitCode === null && child.signalCode === null) killEntered(child);
      // Nobody reads what it still had to say.
      for (const stream of [input, output, errors]) stream?.destroy();
    },
  };
}

/** The one outside has the program as its child, which leads a session. */
function killEntered({ pid = 0 }: ChildProcess): void {
  for (const inside of childrenOf(pid)) killSession(inside);
  killSession(pid);
}

function unreachable(): never {
  throw new Error('Cannot write to a program that was started without input');
}

type HeldContainer = {
  /** Joined by the one outside, then by the program. */
  readonly outside: readonly number[];
  readonly inside: readonly number[];
  readonly release: () => void;
};

/** Namespaces that differ from the agent's. That of a user the program puts on is joined last: it takes the right to join others away. */
function holdContainer(outside: number): HeldContainer {
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
  const held = {
    outside: [...open(outside, 'user'), ...open(first, 'pid')],
    inside: [
      ...['mnt', 'uts', 'ipc', 'cgroup', 'net'].flatMap((kind) => open(first, kind)),
      ...(hasOwnUser ? open(first, 'user') : []),
    ],
    release: () => {
      for (const descriptor of opened) closeSync(descriptor);
    },
  };
  // Its number may be another's if it has ended meanwhile.
  if (childrenOf(outside)[0] === first) return held;
  held.release();
  throw notRunning();
}

/** Those of the container, so that its programs find their terminal by its name. */
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
  readonly held: HeldContainer;
  readonly argv: Argv;
  readonly hasTerminal: boolean;
};

const firstGiven = 4;

function launchInside(
  { options, isolation, held, argv, hasTerminal }: Entering,
  stdio: StarterStdio,
): StarterRun {
  const { variables, workingDir, groupFiles, maxProcesses } = options;
  const given = (index: number): number => firstGiven + index;
  const steps = enterSteps(
    {
      ...{ argv, variables, workingDir, hasTerminal },
      privileges: privilegesOf(options, isolation),
      outside: held.outside.map((_, index) => given(index)),
      inside: held.inside.map((_, index) => given(held.outside.length + index)),
      groupFiles,
      ...(maxProcesses === undefined ? {} : { maxProcesses }),
    },
    architectureOf(process.arch) ?? 'x64',
  );
  return spawnStarter(steps, stdio, [...held.outside, ...held.inside]);
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
  return { identity: { uid, gid, groups }, capabilities, hasNoNewPrivileges, seccomp, isOnlyUser };
}

export function inNetwork<T>({ namespacePath }: ContainerToRun, work: () => T): T {
  return namespacePath === undefined ? work() : insideNamespace(namespacePath, work);
}
