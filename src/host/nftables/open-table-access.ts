// Opens nf_tables over netlink, or through the nft program where netlink cannot be used.
import { NativeUnavailableError } from '../native.ts';
import type { NetlinkOptions } from '../netlink/netlink.ts';
import { useNftProgram } from './nft-program.ts';
import { openNftables } from './open-nftables.ts';
import type { TableAccess, TableLocation } from './table-access.ts';

/** Netlink is faster and needs nothing installed, but needs the C library. */
export async function openTableAccess(location: TableLocation = {}): Promise<TableAccess> {
  try {
    return await openNetlinkAccess(location);
  } catch (error) {
    if (!(error instanceof NativeUnavailableError)) throw error;
    return useNftProgram(location);
  }
}

/** On a thread of its own by default, as `openNftables`. */
export async function openNetlinkAccess(
  options: TableLocation & Pick<NetlinkOptions, 'thread'> = {},
): Promise<TableAccess> {
  const { apply, readTable, readElements, close } = await openNftables(options);
  return {
    transport: 'netlink',
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
