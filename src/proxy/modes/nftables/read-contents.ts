// What the kernel holds of the table.
import { openTableAccess } from '../../../host/nftables/open-table-access.ts';
import { renderElement } from '../../../host/nftables/render-text.ts';
import type { TableAccess } from '../../../host/nftables/table-access.ts';
import type { Family, ProxyState } from '../../model/state.ts';
import type { Drift } from '../mode.ts';
import type { TableContents } from './diff.ts';
import { driftOf } from './drift.ts';
import { ownSets, tableOf } from './layout.ts';

export async function readContents(
  access: TableAccess,
  family: Family,
  sets = ownSets,
): Promise<TableContents | undefined> {
  const table = tableOf(family);
  const names = await access.readNames(table);
  if (names === undefined) return undefined;
  const elements = new Map<string, Awaited<ReturnType<TableAccess['readElements']>>>();
  for (const set of sets) {
    if (names.sets.has(set.name)) elements.set(set.name, await access.readElements(table, set));
  }
  return { chains: names.chains, elements };
}

export async function readDrift(state: ProxyState): Promise<Drift | undefined> {
  const access = await openTableAccess();
  try {
    const contents = await readContents(access, state.node.family);
    return contents === undefined ? undefined : driftOf(contents, state, renderElement);
  } finally {
    await access.close();
  }
}
