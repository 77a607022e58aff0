// nf_tables through the nft program, version 1.0.1 or later.
import { type Command, CommandError, runCommand } from '../exec.ts';
import { decodeElementList, decodeNames } from './decode-json.ts';
import type { NftSet, Table, Transaction } from './objects.ts';
import { renderTransaction } from './render-text.ts';
import type { TableAccess, TableLocation } from './table-access.ts';

/** The largest map has an element of about 100 bytes for each endpoint; a million of them still fit. */
const maxListBytes = 256 * 1024 * 1024;

export function useNftProgram(location: TableLocation = {}): TableAccess {
  return {
    transport: 'nft',
    apply: async (transaction: Transaction) => {
      const text = renderTransaction(transaction);
      await runCommand({ ...location, argv: ['nft', '-f', '-'], stdin: text });
      return text.length;
    },
    wantsNewTable: isMapUnreadable,
    readNames: async (table: Table) => {
      // Terse: without elements.
      const listed = await list({
        ...location,
        argv: ['nft', '-j', '-t', 'list', 'table', table.family, table.name],
      });
      return listed === undefined ? undefined : decodeNames(listed);
    },
    readElements: async (table: Table, set: NftSet) => {
      const kind = set.data === undefined ? 'set' : 'map';
      const listed = await list({
        ...location,
        argv: ['nft', '-j', 'list', kind, table.family, table.name, set.name],
      });
      return listed === undefined ? [] : decodeElementList(listed, set);
    },
    close: () => Promise.resolve(),
  };
}

/** Undefined if the table or set does not exist. */
async function list(command: Command): Promise<unknown> {
  try {
    const { stdout } = await runCommand({ ...command, maxOutputBytes: maxListBytes });
    return JSON.parse(stdout);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * nft 1.0.6 cannot use a map that was declared with `typeof` in a rule if the map is in the kernel and not in the same input: it
 * takes the `typeof` expression for a part of the rule. A new table with the same rules works.
 */
function isMapUnreadable(error: unknown): boolean {
  return (
    error instanceof CommandError &&
    error.failure.stderr.includes('conflicting protocols specified')
  );
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof CommandError && error.failure.stderr.includes('No such file or directory')
  );
}
