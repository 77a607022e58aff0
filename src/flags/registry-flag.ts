// The file that says how registries are reached: for those who pull images, `up` and the command line alike.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { parseRegistrySettings, RegistrySettingsError } from '../images/parse-registry-settings.ts';
import type { RegistrySettings } from '../images/registry-settings.ts';
import { UsageError } from './command.ts';

export type RegistryFlag = { readonly registryConfig?: string };

/** In the data directory. */
const defaultName = 'registries.yaml';

export function addRegistryFlag(command: Command): Command {
  return command.option(
    '--registry-config <file>',
    `File with mirrors, insecure registries and their authorities (default: ${defaultName} in the data directory, if it exists)`,
  );
}

/** Empty if there is no file. Paths in it are relative to it. Throws UsageError. */
export async function readRegistrySettings(
  { registryConfig }: RegistryFlag,
  { cwd, dataDir }: { readonly cwd: string; readonly dataDir: string },
): Promise<RegistrySettings> {
  const file =
    registryConfig === undefined
      ? join(resolve(cwd, dataDir), defaultName)
      : resolve(cwd, registryConfig);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && registryConfig === undefined) return new Map();
    throw new UsageError(`Cannot read "${file}": ${(error as Error).message}.`);
  }
  try {
    return parseRegistrySettings(text, (path) =>
      readFileSync(resolve(dirname(file), path), 'utf8'),
    );
  } catch (error) {
    if (!(error instanceof RegistrySettingsError)) throw error;
    throw new UsageError(`Cannot use "${file}": ${error.message}.`);
  }
}
