// Removes what this mode, an earlier run of it or kube-proxy wrote, from both kernel interfaces.
import { CommandError, isProgramMissing } from '../../../host/exec.ts';
import type { Family } from '../../model/state.ts';
import { openPrograms, type Programs } from './apply-programs.ts';
import {
  type Changes,
  diffChains,
  diffForeign,
  isBuiltIn,
  keepReferenced,
  ownChains,
} from './diff.ts';
import { chainNames } from './names.ts';
import { loopbackGuardComment } from './node-rules.ts';
import { blockBytesOf, render } from './render.ts';
import { type SavedRules, targetOf } from './saved-rules.ts';
import type { Variant } from './settings.ts';

const variants = ['nft', 'legacy'] as const satisfies readonly Variant[];

export async function removeRules(family: Family, namespacePath?: string): Promise<void> {
  for (const variant of variants) {
    const programs = await open(family, variant, namespacePath);
    if (programs === undefined) continue;
    const saved = await readAll(programs);
    const changes = removal(saved, family);
    await programs.write(render(changes, { blockBytes: blockBytesOf[programs.variant] }));
  }
}

async function open(
  family: Family,
  variant: Variant,
  namespacePath: string | undefined,
): Promise<Programs | undefined> {
  try {
    return await openPrograms({
      family,
      variant,
      ...(namespacePath === undefined ? {} : { namespacePath }),
    });
  } catch (error) {
    if (isProgramMissing(error)) return undefined;
    throw error;
  }
}

/** A kernel without the interface holds nothing of ours in it. */
async function readAll(programs: Programs): Promise<SavedRules> {
  try {
    return await programs.readAll();
  } catch (error) {
    if (
      error instanceof CommandError &&
      /protocol not supported|does not exist/i.test(error.message)
    ) {
      return new Map();
    }
    throw error;
  }
}

function removal(saved: SavedRules, family: Family): Changes {
  const nothing = { jumps: [], shared: [], sharedJumps: [] };
  const own = keepReferenced(diffChains(ownChains(saved), new Map()), saved);
  const shared = unusedShared(saved);
  const isRemoved = (chain: string): boolean => shared.remove.some(({ name }) => name === chain);
  return {
    ...own,
    remove: [...own.remove, ...shared.remove],
    foreign: [
      // A chain that goes is emptied first: there is nothing to delete in it then.
      ...diffForeign(saved, nothing, family).filter(({ chain }) => !isRemoved(chain)),
      ...shared.foreign,
    ],
  };
}

/** The chain shared with kubelet goes too when nothing but our rule was in it. */
function unusedShared(saved: SavedRules): Pick<Changes, 'remove' | 'foreign'> {
  const table = 'filter';
  const chains = saved.get(table) ?? new Map<string, readonly string[]>();
  const lines = chains.get(chainNames.firewall) ?? [];
  const isOurs = lines.length > 0 && lines.every((line) => line.includes(loopbackGuardComment));
  if (!isOurs) return { remove: [], foreign: [] };
  const jumps = [...chains].flatMap(([chain, inside]) =>
    inside
      .filter((line) => targetOf(line) === chainNames.firewall)
      // Ours are removed in any case.
      .filter((line) => !line.includes(loopbackGuardComment))
      .map((line) => ({ kind: 'delete', table, chain, line }) as const),
  );
  if (jumps.some(({ chain }) => !isBuiltIn(chain))) return { remove: [], foreign: [] };
  return { remove: [{ table, name: chainNames.firewall }], foreign: jumps };
}
