// Writes the nftables rules of pods, if they have changed since the last write.
import { type Nftables, openNftables } from '../../host/nftables/open-nftables.ts';
import type { Family } from '../../ip/address.ts';
import type { Log } from '../../observe/log.ts';
import { kernelHas } from './apply-settings.ts';
import type { NodeNetwork } from './desired.ts';
import { podTable, removalTransaction, rulesTransaction } from './pod-rules.ts';

export type PodRules = {
  /** Why rules are not available; undefined if they are. */
  readonly problem: string | undefined;
  readonly write: (rules: NodeNetwork['rules']) => Promise<void>;
  /** Finds tables that another program has deleted: the next `write` writes them again. */
  readonly check: () => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const all: readonly Family[] = ['IPv4', 'IPv6'];

/** Removes the rules of a previous run, whose host ports lead nowhere. */
export async function openRules(log: Log): Promise<PodRules> {
  // In the caller's thread, which is in the right namespace; there are few rules.
  const nftables = await openNftables({ thread: 'caller' });
  const families = all.filter(kernelHas);
  try {
    await removeAll(nftables, families);
  } catch (error) {
    await nftables.close();
    const problem = error instanceof Error ? error.message : String(error);
    log.warn('Failed to open nftables, pods have no host ports and no masquerading', {
      error: problem,
    });
    return without(problem);
  }
  const written = new Map<Family, string>();
  return {
    problem: undefined,
    async write(rules) {
      for (const family of families) {
        const text = JSON.stringify(rules[family]);
        if (written.get(family) === text) continue;
        written.delete(family);
        await nftables.apply(rulesTransaction(family, rules[family]));
        written.set(family, text);
      }
    },
    async check() {
      const tables = await nftables.listTables();
      for (const family of [...written.keys()]) {
        const { name, family: kind } = podTable(family);
        const exists = tables.some((table) => table.name === name && table.family === kind);
        if (!exists) written.delete(family);
      }
    },
    remove: () => removeAll(nftables, families),
    close: nftables.close,
  };
}

async function removeAll(nftables: Nftables, families: readonly Family[]): Promise<void> {
  for (const family of families) await nftables.apply(removalTransaction(family));
}

function without(problem: string): PodRules {
  const nothing = (): Promise<void> => Promise.resolve();
  return { problem, write: nothing, check: nothing, remove: nothing, close: nothing };
}
