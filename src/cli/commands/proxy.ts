// Runs the node proxy alone, against any API server.
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Transport } from '../../client/transport.ts';
import { awaitFileChange } from '../../flags/await-file-change.ts';
import { addConnectionFlags, type ClientFlags } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { addLogFlag, type LogFlag } from '../../flags/log-flag.ts';
import { packageVersion } from '../../flags/package-version.ts';
import { type ProxyFile, readProxyFile } from '../../flags/proxy-config-file.ts';
import {
  addProxyFlags,
  flagSettings,
  type ProxyFlags,
  unknownGates,
} from '../../flags/proxy-flags.ts';
import { watchStallsOf } from '../../flags/watch-stalls.ts';
import { systemClock } from '../../host/clock.ts';
import { preferSmallHeap } from '../../host/free-memory.ts';
import { hasJoined, kubeconfigPath } from '../../join/identity-files.ts';
import { addJoinFlags, type JoinFlags } from '../../join/join-flags.ts';
import { openNodeConnection, whileRenewing } from '../../join/open-node-connection.ts';
import { createLog, type Log } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { configProblems, makeConfig, type ProxyConfig } from '../../proxy/config.ts';
import { allModes, loadAllModes } from '../../proxy/modes/all.ts';
import { startProxy } from '../../proxy/run.ts';
import { NoModeError } from '../../proxy/run-choose-mode.ts';
import { cleanUpModes } from '../../proxy/run-cleanup.ts';

type Flags = ClientFlags &
  LogFlag &
  JoinFlags &
  ProxyFlags & {
    readonly dataDir: string;
    readonly config?: string;
    readonly cleanup?: boolean;
  };

export const proxy: CommandDefinition = {
  configure(command, world) {
    addProxyFlags(addJoinFlags(addConnectionFlags(command)))
      .option('--data-dir <directory>', 'Directory for credentials', '.fairlead/node')
      .option('--config <file>', 'KubeProxyConfiguration file. Flags take precedence over it')
      .option('--cleanup', 'Removes the rules of all modes from this machine and exits');
    addLogFlag(command).action(async (flags: Flags) => run(flags, world));
  },
};

async function run(flags: Flags, world: World): Promise<void> {
  preferSmallHeap();
  const log = createLog(flags.logLevel);
  if (flags.cleanup === true) return cleanUp(log, world);
  const file = flags.config === undefined ? undefined : await readFileOf(flags.config, world);
  if (file !== undefined && file.ignored.length > 0) {
    log.warn('Ignored fields of the config file', { fields: file.ignored.join(', ') });
  }
  const gates = unknownGates(flags);
  if (gates.length > 0) log.warn('Ignored feature gates', { gates: gates.join(', ') });
  const config = makeConfig(file?.settings ?? {}, flagSettings(flags));
  const problems = configProblems(config, allModes);
  if (problems.length > 0) throw new UsageError(`Cannot start the proxy: ${problems.join('; ')}.`);
  const directory = resolve(world.cwd(), flags.dataDir);
  // Credentials of a node agent on this machine are renewed by that agent.
  const ofNode =
    flags.join === undefined && hasJoined(directory) ? kubeconfigPath(directory) : undefined;
  const kubeconfig = flags.kubeconfig ?? file?.kubeconfig ?? ofNode;
  const given = { ...flags, ...(kubeconfig === undefined ? {} : { kubeconfig }) };
  const identity = {
    nodeName: (config.nodeName ?? hostname()).trim().toLowerCase(),
    directory,
  };
  const node = await openNodeConnection(given, identity, world);
  world.write(`Proxy for ${node.connection.server}\n`);
  const connected = { node, flags: given, identity, world, log };
  await whileRenewing(connected, (signal) =>
    untilReconfigured(file, signal, (until) =>
      serve(flags, node.transport, { config, log }, until),
    ),
  );
}

/** Exits when the config file changes, so that the supervisor restarts the proxy with the new one (KPX-48). */
async function untilReconfigured(
  file: OpenFile | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (file === undefined) return work(signal);
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const changed = awaitFileChange({ ...file, clock: systemClock }, until).finally(() =>
    ending.abort(),
  );
  try {
    await work(until);
  } finally {
    ending.abort();
  }
  if (await changed) {
    throw new FailedError(`The configuration "${file.path}" has changed: start again with it.`);
  }
}

async function serve(
  flags: LogFlag,
  transport: Transport,
  { config, log }: { readonly config: ProxyConfig; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const caller = { transport, userAgent: `fairlead-proxy/${packageVersion}` };
  const metrics = createMetrics();
  const stopWatching = watchStallsOf(flags, metrics, 'at-once');
  try {
    await startProxy({ caller, config, modes: await loadAllModes(), log, metrics }, signal);
  } catch (error) {
    throw explained(error);
  } finally {
    stopWatching();
    await transport.close();
  }
}

function explained(error: unknown): unknown {
  if (error instanceof NoModeError) return new FailedError(`${error.message}.`, { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE' || code === 'EADDRNOTAVAIL' || code === 'EACCES') {
    return new UsageError(
      `Cannot listen: ${message}. Choose others with --healthz-bind-address and --metrics-bind-address.`,
    );
  }
  return error;
}

type OpenFile = ProxyFile & { readonly path: string; readonly text: string };

async function readFileOf(given: string, world: World): Promise<OpenFile> {
  const path = resolve(world.cwd(), given);
  try {
    const text = await readFile(path, 'utf8');
    return { ...readProxyFile(text), path, text };
  } catch (error) {
    throw new UsageError(`Cannot read the configuration "${given}": ${(error as Error).message}.`);
  }
}

async function cleanUp(log: Log, world: World): Promise<void> {
  const isClean = await cleanUpModes(await loadAllModes(), ['IPv4', 'IPv6'], log);
  if (!isClean) throw new FailedError('Some rules could not be removed; they are named above.');
  world.write('Removed the rules of all modes.\n');
}
