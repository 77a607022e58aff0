// What `up` and a person at a terminal have to do with each other.
import { basename, delimiter, dirname, relative } from 'node:path';
import type { World } from '../flags/command.ts';
import { aborted } from '../host/clock.ts';

export async function untilInterrupted(world: World): Promise<void> {
  await aborted(world.interrupted);
  world.write('Ending: finishing requests under way...\n');
}

/** The shorter way to write it, from where the command was started. */
export function shownPath(path: string, world: Pick<World, 'cwd'>): string {
  const short = relative(world.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** How this program is started from here: its name where the shell finds it, else its path. */
export function programName(world: Pick<World, 'cwd' | 'env'>): string {
  const path = process.argv[1] ?? 'fairlead';
  const isFound = (world.env.PATH ?? '').split(delimiter).includes(dirname(path));
  return isFound ? basename(path) : shownPath(path, world);
}
