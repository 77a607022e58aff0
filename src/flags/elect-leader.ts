// Runs a part under leader election: of several replicas, the holder of the lease works.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type LeaseTiming, runElection } from '../client/leader-election.ts';
import type { Transport } from '../client/transport.ts';
import { systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { ElectionFlags } from './election-flags.ts';
import { packageVersion } from './package-version.ts';

export type Election = {
  readonly flags: ElectionFlags;
  readonly timing: LeaseTiming;
  readonly transport: Transport;
  /** The user agent, such as `fairlead-controllers`. */
  readonly program: string;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly lead: (signal: AbortSignal) => Promise<void>;
};

/** Without leader election it leads at once. */
export function electLeader(
  { flags, timing, transport, program, log, metrics, lead }: Election,
  signal: AbortSignal,
): Promise<void> {
  if (!flags.leaderElect) return lead(signal);
  const labels = { name: flags.leaderElectResourceName };
  const leads = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this copy leads: 1 or 0.',
  });
  leads.set(labels, 0);
  return runElection(
    {
      namespace: flags.leaderElectResourceNamespace,
      name: flags.leaderElectResourceName,
      caller: { transport, userAgent: `${program}/${packageVersion}` },
      identity: `${hostname()}_${randomUUID()}`,
      clock: systemClock,
      log,
      timing,
      async lead(until) {
        leads.set(labels, 1);
        await lead(until).finally(() => leads.set(labels, 0));
      },
    },
    signal,
  );
}
