// The flags of the history of objects.
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { HistoryOptions } from '../apiserver/history/start-history.ts';
import type { Encryption } from './encryption-flags.ts';
import { duration, formatDuration, wholeNumber } from './parse-values.ts';

export type HistoryFlags = {
  readonly historyRetention: number;
  readonly historyMaxBytes: number;
};

const defaultRetentionMs = 60 * 60 * 1000;
/** A few million changes of small objects; the store itself rarely takes more. */
const defaultMaxBytes = 256 * 1024 * 1024;
/** With less, a single large object would not fit. */
const minMaxBytes = 1024 * 1024;

export function addHistoryFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--history-retention <time>',
        'Minimum time for which earlier versions of Services, EndpointSlices, Endpoints, pods and nodes are retained, for `fairlead history`. 0 retains none',
      )
        .argParser(duration())
        .default(defaultRetentionMs, formatDuration(defaultRetentionMs)),
    )
    .addOption(
      new Option(
        '--history-max-bytes <number>',
        'Maximum size of DATA-DIR/history. The oldest versions are dropped first',
      )
        .argParser(wholeNumber({ min: minMaxBytes, max: Number.MAX_SAFE_INTEGER }))
        .default(defaultMaxBytes),
    );
}

/** Undefined when no history is to be kept. */
export function historyOf(
  { historyRetention, historyMaxBytes }: HistoryFlags,
  dataDir: string,
  encryption: Encryption | undefined,
): HistoryOptions | undefined {
  if (historyRetention === 0) return undefined;
  return {
    directory: join(dataDir, 'history'),
    retentionMs: historyRetention,
    maxBytes: historyMaxBytes,
    ...(encryption === undefined
      ? {}
      : { transformerOf: (resource) => encryption.transformers()(resource) }),
  };
}
