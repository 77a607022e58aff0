/** The environment variable with the process id of the launcher, for the program that it starts. */
export const launcherVariable = 'FAIRLEAD_LAUNCHER';

/** The process that people see and send signals to: the launcher, or this one. */
export function visiblePid(env: Readonly<Record<string, string | undefined>>): number {
  return Number(env[launcherVariable] ?? process.pid);
}
