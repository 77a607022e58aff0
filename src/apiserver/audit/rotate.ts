// Rotated log files: `audit-2026-01-31T08-15-00.123.log` beside `audit.log`, named as Kubernetes names them.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export type LogFile = {
  readonly directory: string;
  readonly name: string;
  readonly extension: string;
};

export type Retention = {
  /** 0 is all. */
  readonly maxBackups: number;
  /** 0 is forever. */
  readonly maxAgeDays: number;
  readonly now: number;
};

const dayMs = 24 * 3600 * 1000;

export function backupName({ name, extension }: Omit<LogFile, 'directory'>, now: number): string {
  const time = new Date(now).toISOString().slice(0, -1).replaceAll(':', '-');
  return `${stem(name, extension)}-${time}${extension}`;
}

/** The rotated files to remove; other files stay. */
export function oldBackups(
  names: readonly string[],
  logFile: Omit<LogFile, 'directory'>,
  { maxBackups, maxAgeDays, now }: Retention,
): readonly string[] {
  const backups = names
    .flatMap((name) => {
      const time = backupTime(name, logFile);
      return time === undefined ? [] : [{ name, time }];
    })
    .sort((a, b) => b.time - a.time);
  const isOld = (time: number): boolean => maxAgeDays > 0 && now - time > maxAgeDays * dayMs;
  return backups
    .filter(({ time }, at) => (maxBackups > 0 && at >= maxBackups) || isOld(time))
    .map(({ name }) => name);
}

export async function removeOldBackups(logFile: LogFile, retention: Retention): Promise<void> {
  const names = oldBackups(await readdir(logFile.directory), logFile, retention);
  await Promise.all(names.map((name) => rm(join(logFile.directory, name), { force: true })));
}

const stem = (name: string, extension: string): string =>
  extension === '' ? name : name.slice(0, -extension.length);

function backupTime(
  name: string,
  { name: own, extension }: Omit<LogFile, 'directory'>,
): number | undefined {
  const prefix = `${stem(own, extension)}-`;
  if (!name.startsWith(prefix) || !name.endsWith(extension)) return undefined;
  const text = name.slice(prefix.length, name.length - extension.length);
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text);
  if (match === null) return undefined;
  const [, day, hour, minute, second] = match;
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time;
}
