// The file that says how registries are reached: mirrors, plain HTTP, authorities.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Keyring } from '../images/keyring.ts';
import { DockerConfigError, parseDockerConfig } from '../images/parse-docker-config.ts';
import { parseRegistrySettings } from '../images/parse-registry-settings.ts';
import type { RegistrySettings } from '../images/registry-settings.ts';
import type { Log } from '../observe/log.ts';
import { UsageError } from './command.ts';

export type RegistryFlag = { readonly registries?: string };

/** In the data directory. */
const defaultName = 'registries.yaml';

export function addRegistryFlag(command: Command): Command {
  return command.option(
    '--registries <file>',
    `File with mirrors of registries, and how registries are reached (default: ${defaultName} in the data directory, if it exists)`,
  );
}

/** Empty without a file. Paths in the file are relative to it. Throws UsageError. */
export function readRegistrySettings(
  { registries: file, dataDir }: RegistryFlag & { readonly dataDir: string },
  cwd: string,
): RegistrySettings {
  const path = resolve(cwd, file ?? join(dataDir, defaultName));
  if (file === undefined && !existsSync(path)) return new Map();
  const read = (name: string): string => readFileSync(resolve(dirname(path), name), 'utf8');
  try {
    return parseRegistrySettings(read(path), read);
  } catch (error) {
    throw new UsageError(`Cannot read the registries in "${path}": ${(error as Error).message}.`);
  }
}

/** The credentials that `docker login` has written for this user; read for every pull, because they change. */
export function readDockerConfig(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): Keyring {
  const directory = env.DOCKER_CONFIG || join(env.HOME || homedir(), '.docker');
  const path = join(directory, 'config.json');
  try {
    return parseDockerConfig(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'syscall' in error ? errorCode(error) : undefined;
    if (code === undefined && !(error instanceof DockerConfigError)) throw error;
    if (code !== 'ENOENT')
      log.warn('Cannot read credentials for registries', { path, error: String(error) });
    return [];
  }
}

const errorCode = (error: Error): string | undefined => (error as NodeJS.ErrnoException).code;
