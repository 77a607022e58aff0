// Which files a program has left open to other users, for tests that start it with a umask that forbids nothing.
import { lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Lines like `0644 data/up.json` of everything below that group or others may use in any way; links have no mode of their own. */
export function openToOthers(directory: string): readonly string[] {
  return walk(directory)
    .map((path) => ({ path, stats: lstatSync(path) }))
    .filter(({ stats }) => !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0)
    .map(({ path, stats }) => `0${(stats.mode & 0o777).toString(8)} ${relative(directory, path)}`);
}

/** As a command: whatever the umask of this process. */
export const withUmask = (umask: string, argv: readonly string[]): readonly string[] => [
  ...['sh', '-c', `umask ${umask}; exec "$@"`, 'sh', ...argv],
];

function walk(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...walk(path)] : [path];
  });
}
