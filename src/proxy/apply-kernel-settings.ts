// Writes kernel settings below /proc/sys. What cannot be written is told and left: traffic flows without it.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../observe/log.ts';
import type { KernelSetting } from './conntrack-settings.ts';

export async function applyKernelSettings(
  settings: readonly KernelSetting[],
  log: Log,
  root = '/proc/sys',
): Promise<void> {
  for (const setting of settings) {
    try {
      await applySetting(join(root, setting.path), setting);
    } catch (error) {
      log.warn('kernel setting could not be written', {
        setting: setting.path.replaceAll('/', '.'),
        wanted: setting.value,
        error: (error as Error).message,
      });
    }
  }
}

async function applySetting(path: string, { value, isMinimum }: KernelSetting): Promise<void> {
  const current = Number((await readFile(path, 'utf8')).trim());
  if (current === value || (isMinimum && current > value)) return;
  await writeFile(path, `${value}\n`);
}
