// Says what is being waited for, once that takes longer than a person likes to wonder.
import type { World } from '../flags/command.ts';

const patienceMs = 1000;

export type Progress = <T>(what: string, work: Promise<T>) => Promise<T>;

export function createProgress({ writeError }: Pick<World, 'writeError'>): Progress {
  return async (what, work) => {
    let isShown = false;
    const timer = setTimeout(() => {
      isShown = true;
      writeError(`  ${what}...\n`);
    }, patienceMs);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      if (isShown) writeError(`  ${what}: done\n`);
    }
  };
}
