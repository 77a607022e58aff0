// Credentials for a pull: of a file, else those of `docker login`.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError, type World } from '../../flags/command.ts';
import type { Keyring } from '../../images/keyring.ts';
import { DockerConfigError, parseDockerConfig } from '../../images/parse-docker-config.ts';

/** Throws UsageError. */
export async function readKeyring(
  credsFile: string | undefined,
  world: Pick<World, 'cwd' | 'env'>,
): Promise<Keyring> {
  const file = credsFile === undefined ? defaultFile(world.env) : resolve(world.cwd(), credsFile);
  if (file === undefined) return [];
  try {
    return parseDockerConfig(await readFile(file, 'utf8'));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && credsFile === undefined) return [];
    if (!(error instanceof DockerConfigError) && !('code' in (error as object))) throw error;
    throw new UsageError(`Cannot use the credentials in "${file}": ${(error as Error).message}.`);
  }
}

/** As Docker finds it. */
function defaultFile(env: World['env']): string | undefined {
  const { DOCKER_CONFIG: directory, HOME: home } = env;
  if (directory) return join(directory, 'config.json');
  return home ? join(home, '.docker', 'config.json') : undefined;
}
