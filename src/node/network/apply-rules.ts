// Writes the rules of pods, where they differ from what was written last.
import { type Nftables, openNftables } from '../../host/nftables/open-nftables.ts';
import type { Family } from '../../ip/address.ts';
import type { Log } from '../../observe/log.ts';
import { kernelHas } from './apply-settings.ts';
import type { NodeNetwork } from './desired.ts';
import { podTable, removalTransaction, rulesTransaction } from './pod-rules.ts';

export type PodRules = {
  /** Why there are none here; undefined where there are. */
  readonly problem: string | undefined;
  readonly write: (rules: NodeNetwork['rules']) => Promise<void>;
  /** What somebody else has taken away is written again by the next `write`. */
  readonly check: () => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const all: readonly Family[] = ['IPv4', 'IPv6'];

/** What an earlier run left goes at once: its host ports lead nowhere. */
export async function openRules(log: Log): Promise<PodRules> {
  // The caller's thread: they are few, and a thread of their own would have to find the right namespace.
  const nftables = await openNftables({ thread: 'caller' });
  const families = all.filter(kernelHas);
  try {
    await removeAll(nftables, families);
  } catch (error) {
    await nftables.close();
    const problem = error instanceof Error ? error.message : String(error);
    log.warn('pods have no host ports, and the outside sees their own addresses', { problem });
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
        const isThere = tables.some((table) => table.name === name && table.family === kind);
        if (!isThere) written.delete(family);
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
