// Runs the controllers alone, against any API server, with leader election.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Option } from 'commander';
import { createAccountTransports } from '../../client/account-transports.ts';
import type { LeaseTiming } from '../../client/leader-election.ts';
import { accountNamespace, controllersLease } from '../../controllers/rights.ts';
import { startControllers } from '../../controllers/run.ts';
import { addConnectionFlags, type ClientFlags } from '../../flags/client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../../flags/command.ts';
import {
  addControllerFlags,
  type ControllerFlags,
  controllerSettings,
} from '../../flags/controller-flags.ts';
import { electLeader } from '../../flags/elect-leader.ts';
import { addElectionFlags, type ElectionFlags, leaseTiming } from '../../flags/election-flags.ts';
import { addLogFlag, type LogFlag } from '../../flags/log-flag.ts';
import { addMetricsFlag, type MetricsFlags, serveMetrics } from '../../flags/metrics-flags.ts';
import { type OpenConnection, withConnection } from '../../flags/open-connection.ts';
import { serviceRanges } from '../../flags/parse-flags.ts';
import { bool } from '../../flags/parse-values.ts';
import { watchStallsOf } from '../../flags/watch-stalls.ts';
import { systemClock } from '../../host/clock.ts';
import { createLog, type Log } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';

type ControllersFlags = ClientFlags &
  LogFlag &
  ControllerFlags &
  ElectionFlags &
  MetricsFlags & {
    readonly useServiceAccountCredentials?: boolean;
    readonly rootCaFile?: string;
  };

export const controllers: CommandDefinition = {
  configure(command, world) {
    addConnectionFlags(command).option(
      '--root-ca-file <file>',
      'CA certificate file that is published to all namespaces (default: the CA of the kubeconfig)',
    );
    addControllerFlags(command)
      .option(
        '--service-cluster-ip-range <cidrs>',
        'CIDRs of Services, which are never assigned to nodes',
        serviceRanges,
      )
      .addOption(
        new Option(
          '--use-service-account-credentials [bool]',
          'Runs each controller with the credentials of its own service account in kube-system',
        )
          .argParser(bool)
          .default(false, 'false'),
      );
    addElectionFlags(command, controllersLease);
    addMetricsFlag(command, '127.0.0.1:10257');
    addLogFlag(command).action(async (flags: ControllersFlags) => run(flags, world));
  },
};

async function run(flags: ControllersFlags, world: World): Promise<void> {
  const serving = { timing: leaseTiming(flags), log: createLog(flags.logLevel) };
  const { log } = serving;
  await withConnection(flags, { world, log }, (opened) => serve(flags, world, serving, opened));
}

async function serve(
  flags: ControllersFlags,
  world: World,
  { timing, log }: { readonly timing: LeaseTiming; readonly log: Log },
  { connection, transport }: OpenConnection,
): Promise<void> {
  const metrics = createMetrics();
  const stopWatching = watchStallsOf(flags, metrics);
  const authorityCertificate = await authority(flags, world, connection.certificateAuthority);
  const served = await serveMetrics(flags, metrics);
  const program = 'fairlead-controllers';
  const transportOf = createAccountTransports({
    caller: { transport, userAgent: program },
    namespace: accountNamespace,
    clock: systemClock,
    log,
  });
  const lead = (signal: AbortSignal): Promise<void> =>
    startControllers({
      transport,
      log,
      metrics,
      authorityCertificate,
      signal,
      controllers: flags.controllers,
      settings: controllerSettings(flags),
      ...(flags.useServiceAccountCredentials ? { transportOf } : {}),
    });
  const where = served.url === undefined ? '' : `, metrics at ${served.url}`;
  world.write(`Controllers for ${connection.server}${where}\n`);
  try {
    await electLeader({ flags, timing, transport, program, log, metrics, lead }, world.interrupted);
  } finally {
    stopWatching();
    await served.stop();
  }
}

async function authority(
  flags: ControllersFlags,
  world: World,
  fromKubeconfig: string | undefined,
): Promise<string> {
  if (flags.rootCaFile === undefined) return fromKubeconfig ?? '';
  try {
    return await readFile(resolve(world.cwd(), flags.rootCaFile), 'utf8');
  } catch (error) {
    throw new UsageError(
      `Cannot read the root CA "${flags.rootCaFile}": ${(error as Error).message}`,
    );
  }
}
