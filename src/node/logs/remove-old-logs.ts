// Logs and directories that nobody asks for any more go: those of early runs of a container, and those of pods long gone.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../../host/remove-tree.ts';

/** Logs of so many pods stay after their end, for who comes late. */
const maxGonePods = 100;

/** Before run `attempt` starts: of the runs before it, the last one's log stays. */
export async function removeOldRuns(
  containerDirectory: string,
  logPath: string,
  attempt: number,
): Promise<void> {
  const directories = readdirIfThere(containerDirectory).filter((name) => Number(name) < attempt);
  for (const name of directories) await removeTree(join(containerDirectory, name));
  const logs = readdirIfThere(dirname(logPath)).filter(
    (name) => Number.parseInt(name, 10) < attempt - 1,
  );
  for (const name of logs) rmSync(join(dirname(logPath), name), { force: true });
}

/** Of pods that are gone, the newest logs stay. */
export function removeOldLogs(dataDirectory: string, isPresent: (uid: string) => boolean): void {
  const logs = join(dataDirectory, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const gone = readdirSync(logs)
    .filter((name) => !isPresent(name.slice(name.lastIndexOf('_') + 1)))
    .map((name) => ({ path: join(logs, name), changedAt: statSync(join(logs, name)).mtimeMs }))
    .sort((a, b) => b.changedAt - a.changedAt);
  for (const { path } of gone.slice(maxGonePods)) rmSync(path, { recursive: true, force: true });
}

function readdirIfThere(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
