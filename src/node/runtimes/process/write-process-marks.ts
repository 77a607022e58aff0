// Writes a file per running container, so that the next run of the agent can kill what a killed agent left.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTicksOf } from './read-process.ts';
import { signalGroup } from './send-signals.ts';

/** Process ids are reused; with boot id and start time they identify a process. */
type ProcessMark = { readonly pid: number; readonly startTicks: string; readonly boot: string };

export function markProcess(directory: string, id: string, pid: number): void {
  const startTicks = startTicksOf(pid);
  if (startTicks === undefined) return;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const mark: ProcessMark = { pid, startTicks, boot: bootId() };
  writeFileSync(join(directory, `${id}.json`), JSON.stringify(mark), { mode: 0o600 });
}

export function unmarkProcess(directory: string, id: string): void {
  rmSync(join(directory, `${id}.json`), { force: true });
}

/** Kills marked processes that are still running. Returns their number. */
export function endMarkedProcesses(directory: string): number {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let count = 0;
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const mark = readMark(path);
    if (
      mark !== undefined &&
      mark.boot === bootId() &&
      startTicksOf(mark.pid) === mark.startTicks
    ) {
      signalGroup(mark.pid, 'SIGKILL');
      count += 1;
    }
    rmSync(path, { force: true });
  }
  return count;
}

/** Ignores a file that was truncated when the agent was killed. */
function readMark(path: string): ProcessMark | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessMark;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
