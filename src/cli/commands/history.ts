// What a Service, its endpoints and pods were, and who changed them. On API servers of Fairlead, which retain it.
import { Option } from 'commander';
import { addClientFlags, type ClientFlags, type Session } from '../../flags/client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../../flags/command.ts';
import { buildTimeline, serviceState } from '../../history/build-timeline.ts';
import type { HistoryOutput, HistoryState } from '../../history/history.ts';
import { readServiceMoment, readServicePast } from '../../history/read-service-past.ts';
import { renderState } from '../../history/render-state.ts';
import { type RenderOptions, renderTimeline } from '../../history/render-timeline.ts';
import { formatLocalTime } from '../../meta/local-time.ts';
import { type HistoryScope, readHistoryClock } from '../../snapshot/read-history.ts';
import { makeSnapshot, type Unread } from '../../snapshot/snapshot.ts';
import { missingRightsText, withExplainSession } from '../explain/explain-session.ts';
import { withProgress } from '../explain/progress.ts';
import { screenOf } from '../explain/screen.ts';
import { checkMoment, momentOn } from '../explain/server-moment.ts';
import { inNamespace, type ServiceTarget, serviceTarget } from '../explain/service-target.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';

type HistoryFlags = ClientFlags & {
  readonly since?: string;
  readonly at?: string;
  readonly output?: 'json' | 'yaml';
  readonly verbose?: boolean;
};

/** What servers retain unless they are configured otherwise. */
const defaultSince = '1h';
/** Smaller differences are those of any two clocks. */
const maxSkewMs = 5000;

export const history: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument('<service>', 'svc/NAME or svc/NAMESPACE/NAME')
      .option(
        '--since <time>',
        `Where it begins: 1h, 10m, or a time as of --at (default: ${defaultSince})`,
      )
      .option(
        '--at <time>',
        'What it was at one moment instead: RFC 3339, 15:04, 15:04:05, or 10m for ten minutes ago',
      )
      .addOption(
        new Option('-o, --output <format>', 'Format for programs').choices(['json', 'yaml']),
      )
      .option('-v, --verbose', 'Who made every change, and no limit on the lines')
      .action(async (target: string, flags: HistoryFlags) => run(target, flags, world));
  },
};

async function run(text: string, flags: HistoryFlags, world: World): Promise<void> {
  if (flags.at !== undefined && flags.since !== undefined) {
    throw new UsageError('--at shows one moment and --since a period: want one of them');
  }
  checkMoment('--at', flags.at, world);
  checkMoment('--since', flags.since, world);
  const named = serviceTarget(text);
  await withExplainSession(flags, world, (session) =>
    show(inNamespace(named, session.namespace), { session, flags, world }),
  );
}

type Parts = { readonly session: Session; readonly flags: HistoryFlags; readonly world: World };
type Target = Required<ServiceTarget>;

async function show(target: Target, parts: Parts): Promise<void> {
  const { session, flags, world } = parts;
  const scope: HistoryScope = { kind: 'services', ...target, signal: world.interrupted };
  const { nowMs, since } = await readHistoryClock(session.caller, scope);
  noteSkew(nowMs, world);
  const request = { ...target, nowMs, signal: world.interrupted };
  if (flags.at !== undefined) {
    const atMs = momentOn('--at', flags.at, nowMs);
    const { state, unread } = await withProgress(
      world,
      'Reading the history',
      readServiceMoment(session.caller, { ...request, atMs }),
    );
    await checkKnown(state.service !== undefined, target, { parts, nowMs, sinceMs: since.timeMs });
    print(stateObject(target, { atMs, state: serviceState(state, target.name), unread }), parts);
    return;
  }
  const sinceMs = momentOn('--since', flags.since ?? defaultSince, nowMs);
  const past = await withProgress(
    world,
    'Reading the history',
    readServicePast(session.caller, { ...request, sinceMs }),
  );
  const found = buildTimeline(past);
  const isKnown = found.events.length > 0 || found.start.service !== undefined;
  if (!isKnown) throw unknownService(target, past.fromMs);
  print(found, parts);
}

type Known = { readonly parts: Parts; readonly nowMs: number; readonly sinceMs: number };

/** A Service that did not exist then existed at another time, or there is nothing to say. */
async function checkKnown(
  isThere: boolean,
  target: Target,
  { parts: { session, world }, nowMs, sinceMs }: Known,
): Promise<void> {
  if (isThere) return;
  const request = { ...target, nowMs, sinceMs, signal: world.interrupted };
  const { start, changes } = await readServicePast(session.caller, request);
  if (start.service === undefined && changes.length === 0) throw unknownService(target, sinceMs);
}

function unknownService({ namespace, name }: Target, sinceMs: number): UsageError {
  const since = formatLocalTime(sinceMs);
  return new UsageError(
    `services "${name}" not found in namespace "${namespace}", and there was none since ${since}`,
  );
}

type Moment = {
  readonly atMs: number;
  readonly state: HistoryState['state'];
  readonly unread: readonly Unread[];
};

function stateObject({ namespace, name }: Target, { atMs, state, unread }: Moment): HistoryState {
  return {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'HistoryState', namespace, service: name },
    ...{ time: new Date(atMs).toISOString(), state, unread },
  };
}

function noteSkew(serverMs: number, world: World): void {
  const skewMs = serverMs - world.now();
  if (Math.abs(skewMs) < maxSkewMs) return;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  world.writeError(
    `The clock of the server is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this one; all times are by the server's\n`,
  );
}

function print(found: HistoryOutput, { flags, world }: Parts): void {
  noteUnread(found.unread, world);
  world.write(
    flags.output === undefined
      ? render(found, renderOptions(flags, world))
      : objectText(found, flags.output),
  );
}

const render = (found: HistoryOutput, options: RenderOptions): string =>
  found.kind === 'History' ? renderTimeline(found, options) : renderState(found, options);

function noteUnread(unread: readonly Unread[], world: World): void {
  for (const line of missingRightsText(makeSnapshot({ unread }))) world.writeError(`${line}\n`);
}

function renderOptions(flags: HistoryFlags, world: World): RenderOptions {
  const { columns, rows } = screenOf(world);
  return { paint: paintFor(world), isVerbose: flags.verbose === true, columns, rows };
}
