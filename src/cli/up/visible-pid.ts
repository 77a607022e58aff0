import { launcherVariable } from '../launch.ts';

/** The process that people see and send signals to: the launcher, or this one. */
export function visiblePid(env: Readonly<Record<string, string | undefined>>): number {
  return Number(env[launcherVariable] ?? process.pid);
}
