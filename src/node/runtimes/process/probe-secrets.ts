// What of this machine's own files no container sees, though the directories are shown: what this program keeps, and what other users of the
// machine may not read. A container's root is the machine's root by its number; permissions alone would not keep it out.
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { HiddenPath } from './probe-host.ts';

/** Where settings with passwords and keys lie. Programs and their libraries are for everybody. */
const settingDirectories = ['/etc', '/opt', '/usr/local/etc'] as const;
const shownDirectories = ['/etc/', '/opt/', '/usr/', '/nix/', '/gnu/'] as const;

/** Bounds for a machine with much in them: what is not looked at any more is hidden as a whole. */
const limits = { depth: 4, entries: 20_000 } as const;

const readByOthers = 0o004;
const enteredByOthers = 0o005;

export function probeSecrets(own: readonly string[]): readonly HiddenPath[] {
  const budget = { entries: limits.entries };
  const found = settingDirectories.flatMap((path) => secretsIn(path, 1, budget));
  const ours = own.flatMap((path) => {
    const real = realIfThere(path);
    if (real === undefined || !shownDirectories.some((top) => real.startsWith(top))) return [];
    return [{ path: real, isDirectory: lstatSync(real).isDirectory() }];
  });
  const all = [...ours, ...found];
  const isInside = ({ path }: HiddenPath): boolean =>
    all.some((one) => one.path !== path && path.startsWith(`${one.path}/`));
  return all.filter((one) => !isInside(one));
}

function secretsIn(
  directory: string,
  depth: number,
  budget: { entries: number },
): readonly HiddenPath[] {
  return namesIn(directory).flatMap((name): readonly HiddenPath[] => {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    budget.entries -= 1;
    if (!stat.isDirectory())
      return (stat.mode & readByOthers) === 0 ? [{ path, isDirectory: false }] : [];
    const isClosed = (stat.mode & enteredByOthers) !== enteredByOthers;
    if (isClosed || budget.entries < 0) return [{ path, isDirectory: true }];
    return depth < limits.depth ? secretsIn(path, depth + 1, budget) : [];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isFileError(error)) return [];
    throw error;
  }
}

function realIfThere(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && 'syscall' in error;
