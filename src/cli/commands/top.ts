// Connections and bytes of Services, measured by the node proxies of Fairlead when it is requested.
import { type Command, Option } from 'commander';
import { addClientFlags, type ClientFlags, type Session } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { formatDuration, parseDuration } from '../../flags/parse-values.ts';
import { sleep, systemClock } from '../../host/clock.ts';
import { maxIntervalMs, minIntervalMs } from '../../kinds/part/traffic.ts';
import { allModes } from '../../proxy/modes/all.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../snapshot/index-snapshot.ts';
import { nodeNotes, outdated } from '../../top/node-notes.ts';
import { readTopSnapshot, type TopScope } from '../../top/read-top-snapshot.ts';
import { readTraffic, TrafficUnavailable } from '../../top/read-traffic.ts';
import { renderService, renderServices } from '../../top/render-top.ts';
import { type SortKey, sortKeys } from '../../top/sort-services.ts';
import { type TableOptions, tabulate } from '../../top/tabulate.ts';
import type { TopServices } from '../../top/top-services.ts';
import {
  interruptedCode,
  missingRightsText,
  withExplainSession,
} from '../explain/explain-session.ts';
import { withProgress } from '../explain/progress.ts';
import { createRepaint } from '../explain/repaint.ts';
import { screenOf } from '../explain/screen.ts';
import { serviceTarget } from '../explain/service-target.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';

type TopFlags = ClientFlags & {
  readonly allNamespaces?: boolean;
  readonly interval: string;
  readonly watch?: boolean;
  readonly sortBy: SortKey;
  readonly output?: 'json' | 'yaml';
  readonly verbose?: boolean;
};

export const top: CommandDefinition = {
  configure(command, world) {
    addTopFlags(command).action(async (what: string, target: string | undefined, flags: TopFlags) =>
      run({ what, target, flags, world }),
    );
  },
};

function addTopFlags(command: Command): Command {
  return addClientFlags(command)
    .argument('<what>', 'services')
    .argument('[service]', 'svc/NAME or svc/NAMESPACE/NAME: the endpoints of one Service')
    .option('-A, --all-namespaces', 'Services of all namespaces')
    .option(
      '--interval <duration>',
      'Time of a measurement; one that runs already is used as it is',
      '2s',
    )
    .option('-w, --watch', 'Measures again and again: a live view, or one answer after the other')
    .addOption(
      new Option('--sort-by <column>', 'Order of the Services')
        .choices(sortKeys)
        .default('connections'),
    )
    .addOption(new Option('-o, --output <format>', 'Format for programs').choices(['json', 'yaml']))
    .option('-v, --verbose', 'Idle Services too, and no limit on the lines');
}

type Request = {
  readonly what: string;
  readonly target: string | undefined;
  readonly flags: TopFlags;
  readonly world: World;
};

async function run({ what, target, flags, world }: Request): Promise<void> {
  if (!['services', 'service', 'svc'].includes(what)) {
    throw new UsageError(`"${what.slice(0, 100)}" cannot be measured, want services`);
  }
  const service = target === undefined ? undefined : serviceTarget(target);
  if (service !== undefined && flags.allNamespaces === true) {
    throw new UsageError(
      '--all-namespaces: one Service has one namespace, want -n NAMESPACE with it',
    );
  }
  const intervalMs = intervalOf(flags.interval);
  await withExplainSession(flags, world, async (session) => {
    const scope: TopScope = {
      ...(flags.allNamespaces === true ? {} : { namespace: session.namespace }),
      ...service,
    };
    const parts = { session, flags, world, scope, intervalMs };
    try {
      if (flags.watch === true) await watch(parts);
      else await showOnce(parts);
    } catch (error) {
      // Interrupted: of a live view, that is its end.
      if (world.interrupted.aborted) {
        if (flags.watch === true) return;
        throw new FailedError('', { exitCode: interruptedCode });
      }
      if (error instanceof TrafficUnavailable)
        throw new FailedError(error.message, { cause: error, exitCode: unanswered });
      throw error;
    }
  });
}

const unanswered = 2;
function intervalOf(text: string): number {
  const intervalMs = parseDuration(text.slice(0, 100));
  if (intervalMs !== undefined && intervalMs >= minIntervalMs && intervalMs <= maxIntervalMs)
    return intervalMs;
  const range = `from ${formatDuration(minIntervalMs)} to ${formatDuration(maxIntervalMs)}`;
  throw new UsageError(
    `--interval: "${text.slice(0, 100)}" is no time to measure, want one like 2s, ${range}`,
  );
}

type Parts = {
  readonly session: Session;
  readonly flags: TopFlags;
  readonly world: World;
  readonly scope: TopScope;
  readonly intervalMs: number;
};

async function showOnce(parts: Parts): Promise<void> {
  const { flags, world } = parts;
  const { table, warnings } = await withProgress(world, 'Measuring', measureAfresh(parts));
  for (const text of warnings) world.writeError(`${text}\n`);
  if (table.nodes.every(({ reason }) => reason !== undefined)) {
    const why = nodeNotes(table, false).map(({ text }) => text);
    throw new FailedError(`Nothing was measured: ${why.join('; ')}`, { exitCode: unanswered });
  }
  world.write(flags.output === undefined ? textOf(table, parts) : objectText(table, flags.output));
}

/** Of nodes that need long pauses, older answers are good enough after that. */
const maxFreshMs = 8000;

/** Users want to know what is so now, and not what was measured for others before. */
async function measureAfresh(parts: Parts): Promise<Measured> {
  const { world } = parts;
  const startedAt = world.now();
  for (;;) {
    const measured = await measure(parts);
    const tookMs = world.now() - startedAt;
    if (tookMs > maxFreshMs || outdated(measured.table, tookMs) === 'none') return measured;
    await sleep(systemClock, pauseMs, world.interrupted);
  }
}

/** Nodes pause for a second between measurements; until then they answer with the one before. */
const pauseMs = 1100;

async function watch(parts: Parts): Promise<void> {
  const { world } = parts;
  const show = createView(parts);
  const warned = new Set<string>();
  let isFirst = true;
  while (!world.interrupted.aborted && world.isOutputClosed?.() !== true) {
    const startedAt = world.now();
    const { table, warnings } = await measure(parts);
    for (const text of warnings.filter((one) => !warned.has(one))) world.writeError(`${text}\n`);
    for (const text of warnings) warned.add(text);
    if (isFirst || outdated(table, world.now() - startedAt) !== 'all') show(table);
    isFirst = false;
    await sleep(systemClock, pauseMs, world.interrupted);
  }
}

/** For programs an object a line, or a document after the other. */
function createView(parts: Parts): (table: TopServices) => void {
  const { flags, world } = parts;
  const repaint = createRepaint(world);
  switch (flags.output) {
    case 'json':
      return (table) => world.write(`${JSON.stringify(table)}\n`);
    case 'yaml':
      return (table) => world.write(`---\n${objectText(table, 'yaml')}`);
    default:
      return (table) => repaint(textOf(table, parts));
  }
}

type Measured = { readonly table: TopServices; readonly warnings: readonly string[] };

async function measure({ session, flags, world, scope, intervalMs }: Parts): Promise<Measured> {
  const { caller } = session;
  const signal = world.interrupted;
  const [nodes, snapshot, mode] = await Promise.all([
    readTraffic(caller, { ...scope, intervalMs, signal }),
    readTopSnapshot(caller, scope, signal),
    allModes[0]?.load(),
  ]);
  if (mode === undefined) throw new Error('Cannot compare: there is no proxy mode');
  const index = indexSnapshot(snapshot);
  const options: TableOptions = {
    ...{ ...scope, mode, settings: clusterSettings(index), nodePortAddresses: [] },
    ...{ sortBy: flags.sortBy, nowMs: world.now() },
  };
  return { table: tabulate(nodes, index, options), warnings: missingRightsText(snapshot) };
}

function textOf(table: TopServices, { flags, world, scope }: Parts): string {
  const options = {
    ...{ paint: paintFor(world), ...screenOf(world) },
    // What is painted again must fit.
    isVerbose: flags.verbose === true && !(flags.watch === true && world.terminal !== undefined),
  };
  return scope.name === undefined ? renderServices(table, options) : renderService(table, options);
}
