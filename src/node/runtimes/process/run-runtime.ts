// Runs containers as processes of this machine.
import { join } from 'node:path';
import type { Log } from '../../../observe/log.ts';
import { ContainerStartError, type ContainerToRun, type Runtime } from '../runtime.ts';
import { removeCgroups } from './apply-cgroups.ts';
import { endMarkedProcesses, markProcess, unmarkProcess } from './apply-leftovers.ts';
import type { LogLimits } from './apply-log-file.ts';
import { type ImageMap, mappedImage, processImage } from './image-map.ts';
import { probeIsolation } from './probe-host.ts';
import { createLimits } from './run-limits.ts';
import { spawnContainer } from './spawn-container.ts';

export type ProcessRuntimeOptions = {
  readonly images: ImageMap;
  /** For files of its own. */
  readonly directory: string;
  readonly now: () => number;
  readonly log: Log;
  readonly version: string;
  readonly logLimits?: LogLimits;
};

export async function createProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const { images, directory, now, log, version, logLimits } = options;
  const isolation = await probeIsolation();
  if (isolation.kind === 'none')
    log.warn('containers have no mounts of their own', { why: isolation.why });
  const marks = join(directory, 'processes');
  const limitsOf = createLimits(directory, log);
  return {
    name: 'process',
    version,
    imageProblem: ({ image, command }) => {
      if (command.length > 0 || image === processImage) return undefined;
      if (mappedImage(images, image)?.command !== undefined) return undefined;
      return `image ${JSON.stringify(image)} is not known here: this node runs processes, so the container needs a command, or the image map an entry`;
    },
    async startContainer(container) {
      const image = mappedImage(images, container.image);
      const [program, ...args] = commandOf(container, image?.command);
      if (program === undefined) {
        throw new ContainerStartError('CreateContainerError', 'no command specified');
      }
      const limits = limitsOf(container);
      const running = await spawnContainer({
        container,
        argv: [program, ...args],
        variables: { ...baseVariables(container), ...image?.variables, ...container.variables },
        workingDir: container.workingDir || image?.workingDir || '/',
        root: image?.root ?? '/',
        isolation,
        now,
        onSpawn: limits.hold,
        ...(logLimits === undefined ? {} : { logLimits }),
      }).catch(async (error: unknown) => {
        await limits.finish({ exitCode: 128 });
        throw error;
      });
      markProcess(marks, container.id, running.pid);
      const ended = running.ended.then((end) => {
        unmarkProcess(marks, container.id);
        return limits.finish(end);
      });
      return { ...running, ended, setAmounts: limits.change };
    },
    async endLeftovers() {
      const count = endMarkedProcesses(marks);
      await removeCgroups(directory);
      return count;
    },
  };
}

/** As an image's entry point and arguments: a command replaces both, arguments alone only the latter. */
function commandOf(
  { command, args }: ContainerToRun,
  ofImage: readonly string[] = [],
): readonly string[] {
  return [...(command.length > 0 ? command : ofImage), ...args];
}

/** Nothing of the agent's own but where programs and the home are. */
function baseVariables({ hostname }: ContainerToRun): Readonly<Record<string, string>> {
  const { PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME = '/' } =
    process.env;
  return { PATH, HOME, ...(hostname === undefined ? {} : { HOSTNAME: hostname }) };
}
