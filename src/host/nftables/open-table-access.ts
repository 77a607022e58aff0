// The best way to nf_tables that this machine has.
import { NativeUnavailableError } from '../native.ts';
import type { NetlinkOptions } from '../netlink/netlink.ts';
import { useNftProgram } from './nft-program.ts';
import { openNftables } from './open-nftables.ts';
import type { TableAccess, TablePlace } from './table-access.ts';

/** Netlink where the C library can be called; it is faster and needs nothing installed. Otherwise the nft program. */
export async function openTableAccess(place: TablePlace = {}): Promise<TableAccess> {
  try {
    return await openNetlinkAccess(place);
  } catch (error) {
    if (!(error instanceof NativeUnavailableError)) throw error;
    return useNftProgram(place);
  }
}

/** On a thread of its own unless told otherwise, as `openNftables` does. */
export async function openNetlinkAccess(
  options: TablePlace & Pick<NetlinkOptions, 'thread'> = {},
): Promise<TableAccess> {
  const { apply, readTable, readElements, close } = await openNftables(options);
  return {
    way: 'netlink',
    apply: (transaction) => apply(transaction),
    wantsNewTable: () => false,
    readNames: async (table) => {
      const listed = await readTable(table);
      if (listed === undefined) return undefined;
      const chains = new Map(listed.chains.map(({ name }) => [name, 0]));
      for (const { chain } of listed.rules) chains.set(chain, (chains.get(chain) ?? 0) + 1);
      return { chains, sets: new Set(listed.sets.map(({ name }) => name)) };
    },
    readElements,
    close,
  };
}
