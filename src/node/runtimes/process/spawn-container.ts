// Starts the processes of one container, logs their output, and reports their termination.
import { type ChildProcess, spawn } from 'node:child_process';
import type { PseudoTerminal } from '../../../host/pseudo-terminal.ts';
import {
  ContainerStartError,
  type ContainerToRun,
  type OutputListener,
  type RunningContainer,
} from '../runtime.ts';
import { type ContainerSpec, containerSteps } from '../sandbox/container-steps.ts';
import {
  architectureOf,
  type StarterRun,
  type StarterStdio,
  spawnStarter,
} from '../sandbox/spawn-starter.ts';
import { makeRoot } from './apply-root.ts';
import type { ContainerProcess } from './container-process.ts';
import type { Isolation } from './probe-host.ts';
import { signalGroup, signalProcess } from './send-signals.ts';
import { createEntrance, inNetwork, privilegesOf } from './spawn-entered.ts';
import { launchWithStreams, type ProgramStreams } from './spawn-streams.ts';
import { startError } from './start-error.ts';
import { openLogFile } from './write-log-file.ts';

/** The caller sets the limits. */
export async function spawnContainer(
  options: ContainerProcess,
): Promise<Omit<RunningContainer, 'setResources' | 'runtimeName'>> {
  const { streams, problem } = startStreams(options);
  const { child } = streams;
  const output = followOutput(options, streams);
  const failure = await problem;
  if (failure !== undefined) {
    output.close();
    throw failure;
  }
  const { pid = 0 } = child;
  const entrance = createEntrance(options, pid);
  const isGroup = options.isolation.kind === 'none';
  child.once('exit', () => {
    // All processes of the group are killed with the first one, and so are entered programs.
    if (isGroup) signalGroup(pid, 'SIGKILL');
    entrance.close();
  });
  return {
    id: options.container.id,
    pid,
    ended: streams.ended.finally(output.close),
    // The process outside forwards signals; all processes inside are killed with it.
    signal: (name) => (isGroup ? signalGroup(pid, name) : signalProcess(child, name)),
    enter: entrance.enter,
    ...(streams.input === undefined ? {} : { input: streams.input }),
    resize: streams.resize,
    onOutput: output.listen,
  };
}

type Started = {
  readonly streams: ProgramStreams;
  /** Resolves with an error if it did not start. */
  readonly problem: Promise<ContainerStartError | undefined>;
};

/** A missing terminal is a start error. */
function startStreams(options: ContainerProcess): Started {
  const { container, argv } = options;
  const { hasStdin: hasInput, hasTerminal = false, security } = container;
  let problem: Started['problem'] = Promise.resolve(undefined);
  const choice = { hasInput, hasTerminal, ...(security.uid === 0 ? {} : { owner: security }) };
  try {
    const streams = launchWithStreams(choice, (stdio, terminal) => {
      const run = inNetwork(container, () => launch(options, stdio, terminal));
      problem = run.problem.then((failure) => failure && startError(failure, argv));
      return run.child;
    });
    return { streams, problem };
  } catch (error) {
    if (error instanceof ContainerStartError || !(error instanceof Error)) throw error;
    throw new ContainerStartError('RunContainerError', error.message, { cause: error });
  }
}

function launch(
  options: ContainerProcess,
  stdio: StarterStdio,
  terminal: PseudoTerminal | undefined,
): StarterRun {
  const { isolation } = options;
  if (isolation.kind === 'none') return launchPlain(options, isolation.why, stdio);
  const { spec, descriptors } = specOf(options, isolation, terminal);
  const architecture = architectureOf(process.arch) ?? 'x64';
  return spawnStarter(containerSteps(spec, architecture), stdio, descriptors);
}

/** Without isolation: everything that needs it is refused. */
function launchPlain(
  { container, argv, variables, workingDir, onSpawn }: ContainerProcess,
  why: string,
  stdio: StarterStdio,
): StarterRun {
  const refused = unenforceable(container, process.getuid?.() ?? 0);
  if (refused !== undefined) {
    throw new ContainerStartError(
      'CreateContainerError',
      `${refused}: this machine does not permit the node agent to isolate containers (${why})`,
    );
  }
  const [program, ...args] = argv;
  const child = spawn(program, args, {
    env: variables,
    cwd: workingDir,
    stdio: [...stdio],
    detached: true,
  });
  if (child.pid !== undefined) onSpawn?.(child.pid);
  return { child, problem: plainProblem(child, program) };
}

/** What the container requests and cannot have without isolation; undefined: nothing. */
function unenforceable({ mounts, security }: ContainerToRun, agentUid: number): string | undefined {
  const first = mounts.find(({ isOptional }) => isOptional !== true);
  if (first !== undefined) return `cannot mount ${first.path}`;
  if (security.hasReadOnlyRoot) return 'cannot make the root file system read-only';
  if (security.isPrivileged) return 'cannot give the container privileges';
  if (security.uid !== 0 && security.uid !== agentUid) return `cannot become user ${security.uid}`;
  if (security.groups.length > 0) return `cannot set groups ${security.groups.join(', ')}`;
  if (security.settings.length > 0) return `cannot set ${security.settings[0]?.path}`;
  return undefined;
}

const plainProblem = (child: ChildProcess, program: string): StarterRun['problem'] =>
  new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ what: `run ${program}`, code: error.code ?? error.message }),
    );
    child.once('spawn', () => resolve(undefined));
  });

/** The first descriptor passed to the starter. */
const firstPassedDescriptor = 4;

function specOf(
  options: ContainerProcess,
  isolation: Extract<Isolation, { kind: 'namespaces' }>,
  terminal: PseudoTerminal | undefined,
): { readonly spec: ContainerSpec; readonly descriptors: readonly number[] } {
  const { container, argv, variables, workingDir, groupFiles, maxProcesses, shared } = options;
  const { security, hostname } = container;
  const descriptors: number[] = [];
  const passDescriptor = (descriptor: number): number =>
    firstPassedDescriptor - 1 + descriptors.push(descriptor);
  const choose = (isHost: boolean, descriptor: number | undefined): ContainerSpec['pid'] => {
    if (isHost) return 'host';
    return descriptor === undefined ? 'new' : { descriptor: passDescriptor(descriptor) };
  };
  const pid = choose(security.hasHostPID, shared.pid);
  const ipc = choose(security.hasHostIPC, shared.ipc);
  const root = makeRoot(options, isolation, {
    passDescriptor,
    ...(terminal === undefined ? {} : { terminal }),
  });
  return {
    descriptors,
    spec: {
      ...{ argv, variables, workingDir, pid, ipc, root },
      privileges: privilegesOf(options, isolation),
      settings: security.settings,
      hasTerminal: terminal !== undefined,
      descriptors: descriptors.length,
      ...(hostname === undefined ? {} : { hostname }),
      groupFiles,
      ...(maxProcesses === undefined ? {} : { maxProcesses }),
      ...(isolation.agent === undefined ? {} : { agent: isolation.agent }),
    },
  };
}

function followOutput({ container, now, logLimits }: ContainerProcess, streams: ProgramStreams) {
  const log = openLogFile(container.logPath, {
    now,
    ...(logLimits === undefined ? {} : { limits: logLimits }),
  });
  const listeners = new Set<OutputListener>();
  let isOpen = true;
  for (const [stream, source] of [
    ['stdout', streams.output],
    ['stderr', streams.errors],
  ] as const) {
    source?.on('data', (bytes: Buffer) => {
      if (!isOpen) return;
      log.write(stream, bytes);
      for (const listener of listeners) listener(stream, bytes);
    });
  }
  return {
    listen(listener: OutputListener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close(): void {
      if (!isOpen) return;
      isOpen = false;
      log.close();
    },
  };
}
