// What the command line needs of the process, for tests that only look at commands: nothing is written, nothing is interrupted.
import type { World } from '../../src/flags/command.ts';

export const silentWorld: World = {
  write: () => {},
  writeError: () => {},
  env: {},
  cwd: () => '/',
  now: () => 0,
  startedAt: 0,
  interrupted: new AbortController().signal,
};
