// The flags of what a trace tries.
import { type Command, InvalidArgumentError } from 'commander';
import { duration, wholeNumber } from '../../flags/parse-values.ts';
import { defaultDataDir } from '../../up/data-dir-flag.ts';

export type LiveFlags = {
  readonly live?: true;
  /** Milliseconds. */
  readonly timeout: number;
  readonly count: number;
  readonly dataDir: string;
};

const defaultTimeoutMs = 2000;
const maxTimeoutMs = 60_000;
/** Enough to see a distribution; more is a load. */
const maxCount = 100;

export function addLiveFlags(command: Command): Command {
  return command
    .option(
      '--live',
      'Also tries it: sends the queries and opens the connection, from the network of the source',
    )
    .option(
      '--timeout <time>',
      'With --live: time for each query and connection, at most 1m (default: 2s)',
      timeout,
      defaultTimeoutMs,
    )
    .option(
      '--count <number>',
      'With --live: connections to each address, at most 100, to compare how they are spread with the chances',
      wholeNumber({ min: 1, max: maxCount }),
      1,
    )
    .option('--data-dir <dir>', 'With --live: data directory of the running `up`', defaultDataDir);
}

const parseTimeout = duration({ minMs: 1 });

function timeout(text: string): number {
  const ms = parseTimeout(text);
  if (ms <= maxTimeoutMs) return ms;
  throw new InvalidArgumentError(`"${text}" is too long; it must be at most 1m.`);
}
