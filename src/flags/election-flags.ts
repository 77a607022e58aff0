// The flags of leader election, with Kubernetes' names and validation.
import { type Command, Option } from 'commander';
import { defaultTiming, type LeaseTiming } from '../client/leader-election.ts';
import { UsageError } from './command.ts';
import { bool, duration, formatDuration } from './parse-values.ts';

export type ElectionFlags = {
  readonly leaderElect: boolean;
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
  readonly leaderElectResourceNamespace: string;
  readonly leaderElectResourceName: string;
};

/** The duration in a Lease is in whole seconds. */
const minLeaseMs = 1000;
/** Retries are spread by up to this factor, and another attempt must fit before the deadline. */
const jitterFactor = 1.2;

export function addElectionFlags(
  command: Command,
  lease: { readonly namespace: string; readonly name: string },
): Command {
  const { durationMs, renewWithinMs, everyMs } = defaultTiming;
  const time = (flag: string, meaning: string, minMs: number, usual: number): Option =>
    new Option(`--leader-elect-${flag} <time>`, meaning)
      .argParser(duration({ minMs }))
      .default(usual, formatDuration(usual));
  return command
    .addOption(
      new Option('--leader-elect [bool]', 'Runs only while holding the leader election lease')
        .argParser(bool)
        .default(true, 'true'),
    )
    .option('--no-leader-elect', 'Same as --leader-elect=false')
    .addOption(
      time(
        'lease-duration',
        'Time after the last observed renewal after which other candidates take over',
        minLeaseMs,
        durationMs,
      ),
    )
    .addOption(
      time(
        'renew-deadline',
        'Time after which a leader that cannot renew the lease steps down',
        1,
        renewWithinMs,
      ),
    )
    .addOption(
      time('retry-period', 'Time between attempts to acquire or renew the lease', 1, everyMs),
    )
    .option('--leader-elect-resource-namespace <name>', 'Namespace of the lease', lease.namespace)
    .option('--leader-elect-resource-name <name>', 'Name of the lease', lease.name);
}

export function leaseTiming(flags: ElectionFlags): LeaseTiming {
  const timing = {
    durationMs: flags.leaderElectLeaseDuration,
    renewWithinMs: flags.leaderElectRenewDeadline,
    everyMs: flags.leaderElectRetryPeriod,
  };
  if (timing.durationMs <= timing.renewWithinMs) {
    throw new UsageError(
      `Cannot elect a leader: --leader-elect-lease-duration (${formatDuration(timing.durationMs)}) must be longer than --leader-elect-renew-deadline (${formatDuration(timing.renewWithinMs)}).`,
    );
  }
  if (timing.renewWithinMs <= timing.everyMs * jitterFactor) {
    throw new UsageError(
      `Cannot elect a leader: --leader-elect-renew-deadline (${formatDuration(timing.renewWithinMs)}) must be longer than ${jitterFactor} times --leader-elect-retry-period (${formatDuration(timing.everyMs)}).`,
    );
  }
  return timing;
}
