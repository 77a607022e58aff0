// Removes old logs and directories: of earlier runs of a container, and of deleted pods.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../../host/remove-tree.ts';

/** Logs of this many deleted pods are retained. */
const maxDeletedPods = 100;

/**
 * Called before run `attempt` starts: only the log of the previous run is retained. What the same run left goes as well: the agent was killed
 * while it started, or it failed to start.
 */
export async function removeOldRuns(
  containerDirectory: string,
  logPath: string,
  attempt: number,
): Promise<void> {
  const directories = readOptionalDirectory(containerDirectory).filter(
    (name) => Number(name) <= attempt,
  );
  for (const name of directories) await removeTree(join(containerDirectory, name));
  const logs = readOptionalDirectory(dirname(logPath)).filter(
    (name) => Number.parseInt(name, 10) < attempt - 1,
  );
  for (const name of logs) rmSync(join(dirname(logPath), name), { force: true });
}

/** Retains the newest logs of deleted pods. */
export function removeOldLogs(dataDirectory: string, isPresent: (uid: string) => boolean): void {
  const logs = join(dataDirectory, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const deletedPods = readdirSync(logs)
    .filter((name) => !isPresent(name.slice(name.lastIndexOf('_') + 1)))
    .map((name) => ({ path: join(logs, name), changedAt: statSync(join(logs, name)).mtimeMs }))
    .sort((a, b) => b.changedAt - a.changedAt);
  for (const { path } of deletedPods.slice(maxDeletedPods))
    rmSync(path, { recursive: true, force: true });
}

function readOptionalDirectory(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
