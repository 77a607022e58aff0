// Starts the processes of one container, writes down what they say, and tells how they end.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  ContainerStartError,
  type ContainerToRun,
  type Mount,
  type OutputListener,
  type RunningContainer,
} from '../runtime.ts';
import { openLogFile } from './apply-log-file.ts';
import { signalGroup } from './apply-signals.ts';
import type { ContainerProcess } from './container-process.ts';
import { hostFiles, type Isolation } from './probe-host.ts';
import { planRoot } from './root-plan.ts';
import { createEntrance, inNetwork, requireProgram } from './spawn-entered.ts';
import { launchWithStreams, type ProgramStreams } from './spawn-streams.ts';
import { startScript } from './start-script.ts';

/** Limits are the business of who starts it. */
export async function spawnContainer(
  options: ContainerProcess,
): Promise<Omit<RunningContainer, 'setAmounts'>> {
  requireProgram(options, options.argv);
  const streams = startStreams(options);
  const { child } = streams;
  if (child.pid !== undefined) options.onSpawn?.(child.pid);
  const output = followOutput(options, streams);
  const problem = await startProblem(child);
  if (problem !== undefined) {
    output.close();
    throw problem;
  }
  const { pid = 0 } = child;
  const entrance = createEntrance(options, pid);
  // With the first process the others of its group end, as in a container, and so does what was entered.
  child.once('exit', () => {
    signalGroup(pid, 'SIGKILL');
    entrance.close();
  });
  return {
    id: options.container.id,
    pid,
    ended: streams.ended.finally(output.close),
    signal: (name) => signalGroup(pid, name),
    enter: entrance.enter,
    ...(streams.input === undefined ? {} : { input: streams.input }),
    resize: streams.resize,
    onOutput: output.listen,
  };
}

/** Where there are no terminals to be had, that is why the container does not run. */
function startStreams(options: ContainerProcess): ProgramStreams {
  try {
    return start(options);
  } catch (error) {
    if (error instanceof ContainerStartError || !(error instanceof Error)) throw error;
    throw new ContainerStartError('RunContainerError', error.message, { cause: error });
  }
}

function start(options: ContainerProcess): ProgramStreams {
  const { container, variables } = options;
  const { hasStdin: hasInput, hasTerminal = false, user } = container;
  const [cwd, words] = commandLine(options);
  const wish = { hasInput, hasTerminal, ...(user === undefined ? {} : { user }) };
  return launchWithStreams(wish, (before, stdio) => {
    const shape: SpawnOptions = {
      env: variables,
      cwd,
      // The fourth is for what goes wrong before the container starts.
      stdio: [...stdio, 'pipe'],
      // A group of its own, so that all its processes get signals.
      detached: true,
    };
    const [program = '', ...args] = [...before, ...words];
    return inNetwork(container, () => spawn(program, args, shape));
  });
}

/** Where it is started, and the program with its arguments. */
function commandLine(options: ContainerProcess): readonly [string, readonly string[]] {
  const { container, argv, workingDir, isolation } = options;
  if (isolation.kind === 'none') {
    requireNoMounts(container, isolation.why);
    return [workingDir, argv];
  }
  const { tools, flags } = isolation;
  return ['/', [tools.unshare, ...flags, tools.sh, writeScript(options, isolation), ...argv]];
}

function requireNoMounts({ mounts }: ContainerToRun, why: string): void {
  const first = mounts.find(({ isOptional }) => isOptional !== true);
  if (first === undefined) return;
  throw new ContainerStartError(
    'CreateContainerError',
    `cannot mount ${first.path}: this machine does not let the node agent make mounts (${why})`,
  );
}

function writeScript(
  { container, root, workingDir }: ContainerProcess,
  { tools }: Extract<Isolation, { kind: 'mounts' }>,
): string {
  const { directory, hostname, user } = container;
  const newRoot = join(directory, 'root');
  mkdirSync(newRoot, { recursive: true });
  const mounts = [
    ...systemMounts(root),
    ...container.mounts,
    ...missingDirectory(container, root, workingDir),
  ];
  const steps = planRoot({ root, mounts, host: hostFiles });
  const { script, files } = startScript({
    newRoot,
    steps,
    tools,
    directory,
    workingDir,
    ...(hostname === undefined ? {} : { hostname }),
    ...(user === undefined ? {} : { user }),
  });
  for (const [path, table] of Object.entries(files)) writeFileSync(path, table);
  const path = join(directory, 'start.sh');
  writeFileSync(path, script);
  return path;
}

/** A root directory of its own has no view of the system yet. */
function systemMounts(root: string): readonly Mount[] {
  if (root === '/') return [];
  return ['/proc', '/sys', '/dev'].map((path) => ({ source: path, path, isReadOnly: false }));
}

/** A working directory that is not there is made, empty. */
function missingDirectory(
  { directory, mounts }: ContainerToRun,
  root: string,
  path: string,
): readonly Mount[] {
  const isMounted = mounts.some(
    (mount) => path === mount.path || path.startsWith(`${mount.path}/`),
  );
  if (isMounted || hostFiles.isDirectory(join(root, path))) return [];
  const source = join(directory, 'workdir');
  mkdirSync(source, { recursive: true });
  return [{ source, path, isReadOnly: false }];
}

/** Resolves when the container has begun; what kept it from beginning otherwise. */
async function startProblem(child: ChildProcess): Promise<ContainerStartError | undefined> {
  const failed = new Promise<ContainerStartError>((resolve) =>
    child.once('error', (error) =>
      resolve(new ContainerStartError('RunContainerError', error.message, { cause: error })),
    ),
  );
  const report = child.stdio[3] as Readable | null | undefined;
  const said = report ? text(report).catch(() => '') : Promise.resolve('');
  const outcome = await Promise.race([failed, said]);
  if (outcome instanceof Error) return outcome;
  if (outcome.trim() === '') return undefined;
  return new ContainerStartError('CreateContainerError', outcome.trim().replaceAll('\n', '; '));
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
