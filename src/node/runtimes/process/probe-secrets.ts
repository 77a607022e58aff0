// Finds files of this machine that must be masked in containers: the agent's own, and those that other users of the machine may not
// read. Root in a container has the uid of root on the machine, so permissions alone do not protect them.
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { MaskedPath } from './probe-host.ts';

/** Directories with settings, which may contain passwords and keys. Programs and libraries are public. */
const settingDirectories = ['/etc', '/opt', '/usr/local/etc'] as const;
const shownDirectories = ['/etc/', '/opt/', '/usr/', '/nix/', '/gnu/'] as const;

/** Limits; what is beyond them is masked as a whole. */
const limits = { depth: 4, entries: 20_000 } as const;

const readByOthers = 0o004;
const enteredByOthers = 0o005;

export function probeSecrets(own: readonly string[]): readonly MaskedPath[] {
  const budget = { entries: limits.entries };
  const unreadable = settingDirectories.flatMap((path) => secretsIn(path, 1, budget));
  const ownPaths = own.flatMap((path) => {
    const real = realIfThere(path);
    if (real === undefined || !shownDirectories.some((top) => real.startsWith(top))) return [];
    return [{ path: real, isDirectory: lstatSync(real).isDirectory() }];
  });
  const all = [...ownPaths, ...unreadable];
  const isInside = ({ path }: MaskedPath): boolean =>
    all.some((one) => one.path !== path && path.startsWith(`${one.path}/`));
  return all.filter((one) => !isInside(one));
}

function secretsIn(
  directory: string,
  depth: number,
  budget: { entries: number },
): readonly MaskedPath[] {
  return namesIn(directory).flatMap((name): readonly MaskedPath[] => {
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
