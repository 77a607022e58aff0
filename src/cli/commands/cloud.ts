// Runs the service controller for load balancers alone, against any API server, with leader election.
import type { LeaseTiming } from '../../client/leader-election.ts';
import type { MakeProvider } from '../../cloud/provider.ts';
import { cloudLease } from '../../cloud/rights.ts';
import { startCloud } from '../../cloud/run.ts';
import { checkProviderSettings } from '../../flags/check-provider-settings.ts';
import { addConnectionFlags, type ClientFlags } from '../../flags/client-flags.ts';
import { addCloudFlags, type CloudFlags, providerSettings } from '../../flags/cloud-flags.ts';
import type { CommandDefinition, World } from '../../flags/command.ts';
import { electLeader } from '../../flags/elect-leader.ts';
import { addElectionFlags, type ElectionFlags, leaseTiming } from '../../flags/election-flags.ts';
import { addLogFlag, type LogFlag } from '../../flags/log-flag.ts';
import { addMetricsFlag, type MetricsFlags, serveMetrics } from '../../flags/metrics-flags.ts';
import { type OpenConnection, withConnection } from '../../flags/open-connection.ts';
import { watchStallsOf } from '../../flags/watch-stalls.ts';
import { createLog, type Log } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';

type Flags = ClientFlags & CloudFlags & ElectionFlags & MetricsFlags & LogFlag;

export const cloud: CommandDefinition = {
  configure(command, world) {
    addCloudFlags(addConnectionFlags(command), 'local');
    addElectionFlags(command, cloudLease);
    addMetricsFlag(command, '127.0.0.1:10258');
    addLogFlag(command).action(async (flags: Flags) => run(flags, world));
  },
};

async function run(flags: Flags, world: World): Promise<void> {
  const timing = leaseTiming(flags);
  const makeProvider = await flags.cloudProvider.load();
  const settings = providerSettings(flags.cloudProvider, flags);
  await checkProviderSettings(makeProvider, { clusterName: flags.clusterName, settings });
  const log = createLog(flags.logLevel);
  const serving = { timing, makeProvider, settings, log };
  await withConnection(flags, { world, log }, (opened) => serve(flags, world, serving, opened));
}

type Serving = {
  readonly timing: LeaseTiming;
  readonly makeProvider: MakeProvider;
  readonly settings: ReturnType<typeof providerSettings>;
  readonly log: Log;
};

async function serve(
  flags: Flags,
  world: World,
  { timing, makeProvider, settings, log }: Serving,
  { connection, transport }: OpenConnection,
): Promise<void> {
  const metrics = createMetrics();
  const stopWatching = watchStallsOf(flags, metrics);
  const served = await serveMetrics(flags, metrics);
  const { clusterName, concurrentServiceSyncs: concurrency, loadBalancerClass } = flags;
  const lead = (signal: AbortSignal): Promise<void> =>
    startCloud({
      transport,
      log,
      metrics,
      makeProvider,
      settings,
      signal,
      clusterName,
      concurrency,
      ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
    });
  const where = served.url === undefined ? '' : `, metrics at ${served.url}`;
  world.write(
    `Load balancers of provider "${flags.cloudProvider.name}" for ${connection.server}${where}\n`,
  );
  const program = 'fairlead-cloud';
  try {
    await electLeader({ flags, timing, transport, program, log, metrics, lead }, world.interrupted);
  } finally {
    stopWatching();
    await served.stop();
  }
}
