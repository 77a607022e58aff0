// What commands show at a terminal: progress, interrupts, paths, the name of the program.
import { basename, delimiter, dirname, relative } from 'node:path';
import type { World } from '../flags/command.ts';
import { aborted } from '../host/clock.ts';

export async function untilInterrupted(world: World): Promise<void> {
  await aborted(world.interrupted);
  world.write('Shutting down: completing requests in flight...\n');
}

/** Relative to the current directory where that is shorter. */
export function shownPath(path: string, world: Pick<World, 'cwd'>): string {
  const short = relative(world.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** How to run this program: its name if it is in PATH, else its path. */
export function programName(world: Pick<World, 'cwd' | 'env'>): string {
  const path = process.argv[1] ?? 'fairlead';
  const isFound = (world.env.PATH ?? '').split(delimiter).includes(dirname(path));
  return isFound ? basename(path) : shownPath(path, world);
}

/** Shorter waits are not mentioned. */
const quietMs = 1000;

export type Progress = <T>(what: string, work: Promise<T>) => Promise<T>;

/** Prints what is being waited for when it takes longer than a second. */
export function createProgress({ writeError }: Pick<World, 'writeError'>): Progress {
  return async (what, work) => {
    let isShown = false;
    const timer = setTimeout(() => {
      isShown = true;
      writeError(`  ${what}...\n`);
    }, quietMs);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      if (isShown) writeError(`  ${what}: done\n`);
    }
  };
}
