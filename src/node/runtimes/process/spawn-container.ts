// Starts the processes of one container, writes down what they say, and tells how they end.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { insideNamespace } from '../../../host/namespaces.ts';
import {
  type ContainerEnd,
  ContainerStartError,
  type ContainerToRun,
  type Mount,
  type OutputListener,
  type RunningContainer,
} from '../runtime.ts';
import { type LogLimits, openLogFile } from './apply-log-file.ts';
import { findProgram, hostFiles, type Isolation } from './probe-host.ts';
import { planRoot } from './root-plan.ts';
import { startScript } from './start-script.ts';

export type SpawnContainer = {
  readonly container: ContainerToRun;
  readonly argv: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** `/` for the host's own files. */
  readonly root: string;
  readonly isolation: Isolation;
  readonly now: () => number;
  readonly logLimits?: LogLimits;
};

/** How long the streams of a container may stay open after its first process has ended. */
const outputRestMs = 1000;

export async function spawnContainer(options: SpawnContainer): Promise<RunningContainer> {
  requireProgram(options);
  const child = start(options);
  const output = followOutput(options, child);
  const ended = endOf(child, output.close);
  const problem = await startProblem(child);
  if (problem !== undefined) {
    output.close();
    throw problem;
  }
  const { pid = 0 } = child;
  return {
    id: options.container.id,
    pid,
    ended,
    signal: (name) => signalGroup(pid, name),
    enter: (argv) => enter(options, pid, argv),
    write: (bytes) => child.stdin?.write(bytes) !== undefined,
    onOutput: output.listen,
  };
}

function requireProgram({ argv: [program], variables, root, container }: SpawnContainer): void {
  const isMounted = container.mounts.some(({ path }) => program.startsWith(`${path}/`));
  // What a volume brings is not there yet, and a relative path depends on where the program starts.
  if (isMounted || program.startsWith('.')) return;
  if (findProgram(program, variables.PATH, root) !== undefined) return;
  const why = program.includes('/')
    ? `stat ${program}: no such file or directory`
    : 'executable file not found in $PATH';
  throw new ContainerStartError('RunContainerError', `exec: ${JSON.stringify(program)}: ${why}`);
}

function start(options: SpawnContainer): ChildProcess {
  const { container, argv, variables, workingDir, isolation } = options;
  const stdin = container.hasStdin ? 'pipe' : 'ignore';
  const shape: SpawnOptions = {
    env: variables,
    stdio: [stdin, 'pipe', 'pipe', 'pipe'],
    // A group of its own, so that all its processes get signals.
    detached: true,
  };
  if (isolation.kind === 'none') {
    requireNoMounts(container, isolation.why);
    const [program, ...args] = argv;
    return inNetwork(container, () => spawn(program, args, { ...shape, cwd: workingDir }));
  }
  const { tools, flags } = isolation;
  const script = writeScript(options, isolation);
  return inNetwork(container, () =>
    spawn(tools.unshare, [...flags, tools.sh, script, ...argv], { ...shape, cwd: '/' }),
  );
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
  { container, root, workingDir }: SpawnContainer,
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

function inNetwork<T>({ namespacePath }: ContainerToRun, work: () => T): T {
  return namespacePath === undefined ? work() : insideNamespace(namespacePath, work);
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

function followOutput({ container, now, logLimits }: SpawnContainer, child: ChildProcess) {
  const log = openLogFile(container.logPath, {
    now,
    ...(logLimits === undefined ? {} : { limits: logLimits }),
  });
  const listeners = new Set<OutputListener>();
  let isOpen = true;
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (bytes: Buffer) => {
      if (!isOpen) return;
      log.write(stream, bytes);
      for (const listener of listeners) listener(stream, bytes);
    });
  }
  // It may end before it has read what it was sent.
  child.stdin?.on('error', () => child.stdin?.destroy());
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

/** With the first process the others of its group end, as in a container. */
function endOf(child: ChildProcess, closeLog: () => void): Promise<ContainerEnd> {
  return new Promise((resolve) => {
    const finish = (end: ContainerEnd): void => {
      closeLog();
      resolve(end);
    };
    child.once('error', () => finish({ exitCode: 128 }));
    child.once('exit', (code, signalName) => {
      signalGroup(child.pid ?? 0, 'SIGKILL');
      const signal = signalName === null ? undefined : constants.signals[signalName];
      const end =
        signal === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + signal, signal };
      // A process that left the group may hold the streams open.
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, outputRestMs);
      child.once('close', () => {
        clearTimeout(timer);
        finish(end);
      });
    });
  });
}

export function signalGroup(pid: number, name: NodeJS.Signals): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Beside the container's first process: in its mounts and its network, under its root. */
function enter(
  options: SpawnContainer,
  pid: number,
  argv: readonly [string, ...string[]],
): ChildProcess {
  const { container, variables, workingDir, isolation } = options;
  const shape: SpawnOptions = { env: variables, stdio: ['pipe', 'pipe', 'pipe'], detached: true };
  const [program, ...args] = argv;
  return inNetwork(container, () => {
    if (isolation.kind === 'none') return spawn(program, args, { ...shape, cwd: workingDir });
    const { tools, flags } = isolation;
    const user = flags.includes('--user') ? ['--user', '--preserve-credentials'] : [];
    const root = [`--root=${join(container.directory, 'root')}`, `--wd=${workingDir}`];
    const identity = [
      ...(container.user?.gid === undefined ? [] : [`--setgid=${container.user.gid}`]),
      ...(container.user === undefined ? [] : [`--setuid=${container.user.uid}`]),
    ];
    const enterFlags = ['--target', String(pid), '--mount', '--uts', ...user, '--'];
    const inside = [tools.unshare, ...root, ...identity, '--', program, ...args];
    return spawn(tools.nsenter, [...enterFlags, ...inside], { ...shape, cwd: '/' });
  });
}
