// nf_tables through the nft program, version 1.0.1 or later.
import { type Command, CommandError, runCommand } from '../exec.ts';
import { decodeElementList, decodeNames } from './decode-json.ts';
import type { NftSet, Table, Transaction } from './objects.ts';
import { renderTransaction } from './render-text.ts';
import type { TableAccess, TablePlace } from './table-access.ts';

/** The largest map has an element of about 100 bytes for each endpoint; a million of them still fit. */
const maxListBytes = 256 * 1024 * 1024;

export function useNftProgram(place: TablePlace = {}): TableAccess {
  return {
    way: 'nft',
    apply: async (transaction: Transaction) => {
      const text = renderTransaction(transaction);
      await runCommand({ ...place, argv: ['nft', '-f', '-'], stdin: text });
      return text.length;
    },
    wantsNewTable: isMapUnreadable,
    readNames: async (table: Table) => {
      // Terse: without elements.
      const listed = await list({
        ...place,
        argv: ['nft', '-j', '-t', 'list', 'table', table.family, table.name],
      });
      return listed === undefined ? undefined : decodeNames(listed);
    },
    readElements: async (table: Table, set: NftSet) => {
      const kind = set.data === undefined ? 'set' : 'map';
      const listed = await list({
        ...place,
        argv: ['nft', '-j', 'list', kind, table.family, table.name, set.name],
      });
      return listed === undefined ? [] : decodeElementList(listed, set);
    },
    close: () => Promise.resolve(),
  };
}

/** Undefined when what is asked for does not exist. */
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
 * nft 1.0.6 cannot use a map that was declared by example in a rule, once the map comes from the kernel and not from the
 * same input: it takes the example for a part of the rule. What it cannot do in a grown table it can do in a new one.
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
