/** The environment variable with the process id of the launcher, for the program it starts. */
export const launcherVariable = 'FAIRLEAD_LAUNCHER';

/** The process id to show and to send signals to: of the launcher, or of this process. */
export function visiblePid(env: Readonly<Record<string, string | undefined>>): number {
  return Number(env[launcherVariable] ?? process.pid);
}
