// The iptables programs of this machine: which there are, and how they are called.
import {
  type Command,
  CommandError,
  type CommandOutput,
  hasExitCode,
  isProgramMissing,
  runCommand,
} from '../../../host/exec.ts';
import type { Family } from '../../model/state.ts';
import type { Table } from './rules.ts';
import {
  createSavedReader,
  parseListed,
  parseSaved,
  type SavedChain,
  type SavedRules,
} from './saved-rules.ts';
import type { Variant } from './settings.ts';

export type Programs = {
  readonly variant: Variant;
  /** As `iptables v1.8.9 (nf_tables)`. */
  readonly version: string;
  /** All rules of the tables that concern us. */
  readonly readAll: () => Promise<SavedRules>;
  /** The same while they come, for those who need not hold them all at once; see `createSavedReader`. */
  readonly readEach: (take: (chain: SavedChain) => void) => Promise<void>;
  /** The rules of one chain; a chain that is not there is not in the answer. With `-v` each has what it has counted. */
  readonly readChain: (table: Table, chain: string, flag?: '-v') => Promise<SavedRules>;
  /**
   * Carries blocks out in order; each as a whole or not at all. Ends at the first that fails. Without blocks no program
   * is started: it would make tables where there are none.
   */
  readonly write: (blocks: Iterable<string>) => Promise<{ readonly bytes: number }>;
};

export type ProgramOptions = {
  readonly family: Family;
  readonly variant?: Variant;
  readonly namespacePath?: string;
};

/** Rules of 100,000 endpoints are 16 MB of text; others may have as many. */
const maxSavedBytes = 512 * 1024 * 1024;
/** How long to wait for the lock of the legacy tables, as upstream. */
const lockSeconds = '5';
/** Far above what 100,000 endpoints take, so that a program that hangs does not stop us for good. */
const timeoutMs = 300_000;
/** Where they are installed, which is not in everybody's PATH. */
const systemDirectories = '/usr/local/sbin:/usr/sbin:/sbin';

/** Throws a CommandError when there are none. */
export async function openPrograms(options: ProgramOptions): Promise<Programs> {
  const name = options.family === 'IPv4' ? 'iptables' : 'ip6tables';
  const candidates =
    options.variant === undefined
      ? [name, `${name}-nft`, `${name}-legacy`]
      : [`${name}-${options.variant}`];
  let missing: unknown;
  for (const program of candidates) {
    try {
      const { stdout } = await call([program, '--version'], options);
      return withProgram(program, { ...options, version: stdout.trim() });
    } catch (error) {
      if (!isProgramMissing(error)) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

function withProgram(program: string, options: ProgramOptions & { version: string }): Programs {
  const { version } = options;
  return {
    version,
    variant: version.includes('nf_tables') ? 'nft' : 'legacy',
    async readAll() {
      const { stdout } = await call([`${program}-save`], options);
      return parseSaved(stdout);
    },
    async readEach(take) {
      const reader = createSavedReader(take);
      const decoder = new TextDecoder();
      const output = (part: Buffer): void => reader.read(decoder.decode(part, { stream: true }));
      await call([`${program}-save`], { ...options, output });
      reader.end();
    },
    async readChain(table, chain, flag) {
      try {
        const { stdout } = await call(
          [program, '-w', lockSeconds, '-t', table, ...(flag ? [flag] : []), '-S', chain],
          options,
        );
        return parseListed(table, stdout);
      } catch (error) {
        if (!hasExitCode(error, 1)) throw error;
        return new Map([[table, new Map()]]);
      }
    },
    async write(blocks) {
      const argv = [`${program}-restore`, '--noflush', '--counters', '-w', lockSeconds] as const;
      const counted = countBytes(blocks);
      if (counted.isEmpty) return { bytes: 0 };
      try {
        await call(argv, { ...options, stdin: counted.blocks });
        return { bytes: counted.bytes() };
      } catch (error) {
        throw withLine(error, blocks);
      }
    },
  };
}

type CountedBlocks = {
  readonly isEmpty: boolean;
  readonly blocks: Iterable<string>;
  /** Of those that were read so far. */
  readonly bytes: () => number;
};

function countBytes(blocks: Iterable<string>): CountedBlocks {
  const first = blocks[Symbol.iterator]().next();
  let bytes = 0;
  return {
    isEmpty: first.done === true,
    blocks: {
      *[Symbol.iterator]() {
        for (const block of blocks) {
          bytes += block.length;
          yield block;
        }
      },
    },
    bytes: () => bytes,
  };
}

type CallOptions = ProgramOptions & Pick<Command, 'output'> & { readonly stdin?: Iterable<string> };

function call(
  argv: readonly [string, ...string[]],
  { namespacePath, stdin, output }: CallOptions,
): Promise<CommandOutput> {
  return runCommand({
    argv,
    env: { PATH: `${process.env.PATH ?? ''}:${systemDirectories}` },
    timeoutMs,
    maxOutputBytes: maxSavedBytes,
    ...(namespacePath === undefined ? {} : { namespacePath }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(output === undefined ? {} : { output }),
  });
}

/** The programs name a failed line by its number only. */
function withLine(error: unknown, blocks: Iterable<string>): unknown {
  if (!(error instanceof CommandError)) return error;
  const number = Number(/line:? (\d+)/i.exec(error.failure.stderr)?.[1]);
  if (!Number.isInteger(number)) return error;
  const line = [...blocks].join('').split('\n')[number - 1];
  const { stderr, ...failure } = error.failure;
  return new CommandError({ ...failure, stderr: `${stderr.trim()}: ${line}` });
}
