// Runs containers as processes of this machine.
import { join } from 'node:path';
import type { Log } from '../../../observe/log.ts';
import { ContainerStartError, type ContainerToRun, type Runtime } from '../runtime.ts';
import { removeCgroups } from './apply-cgroups.ts';
import { removePidGroups } from './apply-pid-groups.ts';
import type { ContainerProcess } from './container-process.ts';
import { type ImageMap, mappedImage, processImage } from './image-map.ts';
import { type Isolation, type MaskedPath, probeIsolation } from './probe-host.ts';
import { probeSecrets } from './probe-secrets.ts';
import { type ContainerLimits, createLimits } from './run-limits.ts';
import { createSharedNamespaces, type SharedNamespaces } from './run-shared-namespaces.ts';
import { spawnBesideTarget } from './spawn-beside-target.ts';
import { spawnContainer } from './spawn-container.ts';
import type { LogLimits } from './write-log-file.ts';
import { endMarkedProcesses, markProcess, unmarkProcess } from './write-process-marks.ts';

export type ProcessRuntimeOptions = {
  readonly images: ImageMap;
  /** For files of the runtime. */
  readonly directory: string;
  /** Paths with keys and passwords that are masked in containers. */
  readonly privatePaths?: readonly string[];
  readonly now: () => number;
  readonly log: Log;
  readonly version: string;
  readonly logLimits?: LogLimits;
  /** Limit of processes and threads per pod; absent: none. */
  readonly maxPids?: number;
  /** Prepares containers of images; absent: there are none. */
  readonly prepare?: (container: ContainerToRun) => Promise<PreparedImages>;
  /** Absent: probed. */
  readonly isolation?: Isolation;
};

/** What a container's image says, and its files, ready to be mounted. */
export type PreparedImages = Pick<ContainerProcess, 'image' | 'imageVolumes'> &
  Partial<Pick<ContainerProcess, 'variables' | 'workingDir'>> & {
    readonly argv?: readonly string[];
    /** Of the image. */
    readonly stopSignal?: number;
  };

export async function createProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const { images, directory, log, version } = options;
  const isolation = options.isolation ?? (await probeIsolation());
  if (isolation.kind === 'none')
    log.warn('Containers are not isolated from this machine', { reason: isolation.why });
  const masked = probeSecrets([directory, ...(options.privatePaths ?? [])]);
  const pods = createSharedNamespaces(isolation, log);
  const marks = join(directory, 'processes');
  const { maxPids } = options;
  const limitsOf = createLimits({ directory, log, ...(maxPids === undefined ? {} : { maxPids }) });
  return {
    name: 'process',
    version,
    imageProblem: ({ image, command }) => {
      if (command.length > 0 || image === processImage) return undefined;
      if (mappedImage(images, image)?.command !== undefined) return undefined;
      return `image ${JSON.stringify(image)} is not known here: this node runs processes, want a command in the container or an entry in the image map`;
    },
    async startContainer(container) {
      const limits = limitsOf(container);
      const running = await start({ container, options, isolation, masked, pods, limits }).catch(
        async (error: unknown) => {
          await limits.finish({ exitCode: 128 });
          throw error;
        },
      );
      markProcess(marks, container.id, running.pid);
      const ended = running.ended.then((end) => {
        unmarkProcess(marks, container.id);
        return limits.finish(end);
      });
      return { ...running, ended, setResources: limits.change };
    },
    endPod: pods.end,
    async endLeftovers() {
      const count = endMarkedProcesses(marks);
      await removeCgroups(directory);
      await removePidGroups(directory);
      return count;
    },
  };
}

type Starting = {
  readonly container: ContainerToRun;
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly masked: readonly MaskedPath[];
  readonly pods: SharedNamespaces;
  readonly limits: ContainerLimits;
};

async function start({ container, options, isolation, masked, pods, limits }: Starting) {
  const { now, logLimits } = options;
  const prepared = await options.prepare?.(container);
  const program = { ...hostProgram(container, options.images), ...prepared };
  const { argv, stopSignal, ...rest } = program;
  const [first, ...args] = argv;
  if (first === undefined) {
    throw new ContainerStartError('CreateContainerError', 'no command specified');
  }
  const shared = await pods.of(container);
  const running = await spawnBesideTarget(container, isolation, (pid) =>
    spawnContainer({
      container,
      ...rest,
      argv: [first, ...args],
      isolation,
      shared: { ...shared, ...pid },
      masked,
      now,
      onSpawn: limits.addProcess,
      groupFiles: limits.groupFiles,
      ...(limits.maxProcesses === undefined ? {} : { maxProcesses: limits.maxProcesses }),
      ...(logLimits === undefined ? {} : { logLimits }),
    }),
  );
  return {
    ...running,
    runtimeName: container.rootImage === undefined ? 'process' : 'oci',
    ...(stopSignal === undefined ? {} : { stopSignal }),
  };
}

/** A program of this machine, with what the image map says. */
function hostProgram(container: ContainerToRun, images: ImageMap) {
  const image = mappedImage(images, container.image);
  return {
    argv: commandOf(container, image?.command),
    variables: { ...baseVariables(container), ...image?.variables, ...container.variables },
    workingDir: container.workingDir || image?.workingDir || '/',
    root: image?.root ?? '/',
  };
}

/** A command replaces that of the image; arguments are appended. */
function commandOf(
  { command, args }: ContainerToRun,
  ofImage: readonly string[] = [],
): readonly string[] {
  return [...(command.length > 0 ? command : ofImage), ...args];
}

/** From the agent's environment only PATH. */
function baseVariables({ hostname, security }: ContainerToRun): Readonly<Record<string, string>> {
  const { PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' } = process.env;
  return { PATH, HOME: security.home, ...(hostname === undefined ? {} : { HOSTNAME: hostname }) };
}
