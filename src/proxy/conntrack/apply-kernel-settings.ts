// Writes kernel settings below /proc/sys. Failures are logged and ignored: traffic flows without these settings. Synchronous, because
// below /proc/sys/net a thread sees the settings of its own namespace, and file promises run on other threads.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../observe/log.ts';
import type { KernelSetting } from './conntrack-settings.ts';

export function applyKernelSettings(
  settings: readonly KernelSetting[],
  log: Log,
  root = '/proc/sys',
): void {
  for (const setting of settings) {
    try {
      applySetting(join(root, setting.path), setting);
    } catch (error) {
      log.warn('Failed to write kernel setting', {
        setting: setting.path.replaceAll('/', '.'),
        wanted: setting.value,
        error: (error as Error).message,
      });
    }
  }
}

function applySetting(path: string, { value, isMinimum }: KernelSetting): void {
  const current = Number(readFileSync(path, 'utf8').trim());
  if (current === value || (isMinimum && current > value)) return;
  writeFileSync(path, `${value}\n`);
}
