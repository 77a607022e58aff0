// What a container of an image runs: the configuration of the image, and what the pod's spec says instead. Pure.
import type { ImageConfig } from '../../../images/image-store.ts';
import type { ContainerToRun } from '../runtime.ts';
import { signalNumber } from '../signal-number.ts';

export type ImageProgram = {
  readonly argv: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** Absent: SIGTERM. */
  readonly stopSignal?: number;
  /** Directories that containers of the image write to, even if their root is read-only. */
  readonly volumes: readonly string[];
};

/** Of container runtimes, for images without one. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export type ProgramSpec = Pick<
  ContainerToRun,
  'command' | 'args' | 'variables' | 'workingDir' | 'hostname' | 'hasTerminal' | 'mounts'
>;

/** `home` is that of the user in the image. */
export function imageProgram(config: ImageConfig, spec: ProgramSpec, home: string): ImageProgram {
  const { command, args, variables, hostname, hasTerminal = false, mounts } = spec;
  const mounted = new Set(mounts.map(({ path }) => path));
  const stopSignal = signalNumber(config.stopSignal);
  return {
    argv: argvOf(config, command, args),
    variables: {
      PATH: defaultPath,
      ...(hasTerminal ? { TERM: 'xterm' } : {}),
      ...(hostname === undefined ? {} : { HOSTNAME: hostname }),
      HOME: home,
      ...variablesOf(config.env),
      ...variables,
    },
    workingDir: absolute(spec.workingDir || config.workingDir || '/'),
    ...(stopSignal === undefined ? {} : { stopSignal }),
    volumes: config.volumes.map(absolute).filter((path) => path !== '/' && !mounted.has(path)),
  };
}

/** A command replaces the entrypoint and the arguments of the image; arguments alone only the latter. */
function argvOf(
  { entrypoint = [], cmd = [] }: ImageConfig,
  command: readonly string[],
  args: readonly string[],
): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  return [...entrypoint, ...(args.length > 0 ? args : cmd)];
}

/** Lines without a name or a value mean nothing. */
function variablesOf(env: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    env.flatMap((line) => {
      const at = line.indexOf('=');
      return at <= 0 || line.includes('\0') ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

/** Without `..`, which could lead elsewhere than it seems. */
function absolute(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}
