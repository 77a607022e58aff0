// The controllers alone, against any API server; of several copies one works at a time.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { createHttpTransport } from '../../client/http-transport.ts';
import { runElection } from '../../client/leader-election.ts';
import { startControllers } from '../../controllers/run.ts';
import { systemClock } from '../../host/clock.ts';
import { createLog, type LogLevel } from '../../observe/log.ts';
import { addConnectionFlags, type ClientFlags, connect } from '../client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../command.ts';
import { packageVersion } from '../package-version.ts';
import { logLevel } from '../parse-flags.ts';

type ControllersFlags = ClientFlags & {
  readonly rootCaFile?: string;
  readonly leaderElect: boolean;
  readonly logLevel: LogLevel;
};

const lease = { namespace: 'kube-system', name: 'fairlead-controllers' };

export const controllers: CommandDefinition = {
  name: 'controllers',
  summary: 'run the controllers alone',
  configure(command, world) {
    addConnectionFlags(command)
      .option(
        '--root-ca-file <file>',
        'certificate published to all namespaces (default: that of the kubeconfig)',
      )
      .option(
        '--no-leader-elect',
        `work without holding the lease ${lease.namespace}/${lease.name}`,
      )
      .option(
        '--log-level <level>',
        'debug, info, warn, error or silent',
        logLevel,
        'info' satisfies LogLevel,
      )
      .action(async (flags: ControllersFlags) => run(flags, world));
  },
};

async function run(flags: ControllersFlags, world: World): Promise<void> {
  const connection = await connect(flags, world);
  const log = createLog(flags.logLevel);
  const transport = createHttpTransport(connection);
  const authorityCertificate = await authority(flags, world, connection.certificateAuthority);
  const lead = (signal: AbortSignal): Promise<void> =>
    startControllers({ transport, log, authorityCertificate, signal });
  world.write(`Controllers for ${connection.server}\n`);
  try {
    if (!flags.leaderElect) return await lead(world.interrupted);
    const caller = { transport, userAgent: `fairlead-controllers/${packageVersion}` };
    const identity = `${hostname()}_${randomUUID()}`;
    await runElection(
      { ...lease, caller, identity, clock: systemClock, log, lead },
      world.interrupted,
    );
  } finally {
    await transport.close();
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
