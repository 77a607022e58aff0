// The balancers of LoadBalancer Services alone, against any API server; of several copies one works at a time.
import { openTransport } from '../../client/open-transport.ts';
import { type MakeProvider, ProviderSettingsError } from '../../cloud/provider.ts';
import { startCloud } from '../../cloud/run.ts';
import { systemClock } from '../../host/clock.ts';
import { createLog, silentLog } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { addConnectionFlags, type ClientFlags, connect } from '../client-flags.ts';
import { addCloudFlags, type CloudFlags, providerSettings } from '../cloud-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../command.ts';
import { electLeader } from '../elect-leader.ts';
import { addElectionFlags, type ElectionFlags, leaseTiming } from '../election-flags.ts';
import { addLogFlag, type LogFlag } from '../log-flag.ts';
import { addMetricsFlag, type MetricsFlags, serveMetrics } from '../metrics-flags.ts';

type Flags = ClientFlags & CloudFlags & ElectionFlags & MetricsFlags & LogFlag;

export const cloud: CommandDefinition = {
  configure(command, world) {
    addCloudFlags(addConnectionFlags(command), 'local');
    addElectionFlags(command, { namespace: 'kube-system', name: 'fairlead-cloud' });
    addMetricsFlag(command, '127.0.0.1:10258');
    addLogFlag(command).action(async (flags: Flags) => run(flags, world));
  },
};

async function run(flags: Flags, world: World): Promise<void> {
  const timing = leaseTiming(flags);
  const makeProvider = await flags.cloudProvider.load();
  const settings = providerSettings(flags.cloudProvider, flags);
  await checkSettings(makeProvider, { clusterName: flags.clusterName, settings });
  const connection = await connect(flags, world);
  const log = createLog(flags.logLevel);
  const metrics = createMetrics();
  const served = await serveMetrics(flags, metrics);
  const transport = openTransport(connection);
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
    await transport.close();
    await served.stop();
  }
}

/** A provider is made each time the lease is won; what is wrong with its flags is told at once all the same. */
async function checkSettings(
  makeProvider: MakeProvider,
  given: Pick<Parameters<MakeProvider>[0], 'clusterName' | 'settings'>,
): Promise<void> {
  const ending = new AbortController();
  try {
    await makeProvider(
      {
        ...given,
        followServices: () => {},
        clock: systemClock,
        log: silentLog,
        metrics: createMetrics(),
      },
      ending.signal,
    );
  } catch (error) {
    if (error instanceof ProviderSettingsError) throw new UsageError(`${error.message}.`);
    throw error;
  } finally {
    ending.abort();
  }
}
