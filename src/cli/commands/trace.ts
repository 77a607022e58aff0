// Explains a connection before it is made, hop by hop, on any cluster, with the right to read.
import { Option } from 'commander';
import { addClientFlags, type ClientFlags, type Session } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import {
  type ClusterSettings,
  clusterSettings,
  type SettingFlags,
} from '../../snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../snapshot/index-snapshot.ts';
import type { JudgedConnection } from '../../trace/judge-connection.ts';
import { type Parsed, parseProtocol, parseSource, parseTarget } from '../../trace/parse-target.ts';
import { readTraceSnapshot } from '../../trace/read-trace-snapshot.ts';
import { renderTrace } from '../../trace/render-trace.ts';
import type { Trace } from '../../trace/trace.ts';
import { type TraceRequest, traceConnection } from '../../trace/trace-connection.ts';
import { missingRightsText, withExplainSession } from '../explain/explain-session.ts';
import { addLiveFlags, type LiveFlags } from '../explain/live-flags.ts';
import { withProgress } from '../explain/progress.ts';
import { metRules } from '../explain/rule-text.ts';
import { checkMoment, serverMoment } from '../explain/server-moment.ts';
import {
  addClusterFlags,
  type ClusterFlags,
  checkModeName,
  loadMode,
  settingFlags,
} from '../explain/setting-flags.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';

type TraceFlags = ClientFlags &
  ClusterFlags &
  LiveFlags & {
    readonly from?: string;
    readonly via?: string;
    readonly protocol?: string;
    readonly rules?: string | true;
    readonly output?: 'json' | 'yaml';
    readonly verbose?: boolean;
    readonly at?: string;
  };

export const trace: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument(
        '<target>',
        'URL, NAME:PORT, IP:PORT, [IPV6]:PORT, svc/[NAMESPACE/]NAME[:PORT] or node/NAME:PORT',
      )
      .option(
        '--from <source>',
        'Where the connection starts: pod/[NAMESPACE/]NAME, node/NAME or outside[=IP] (default: any pod of the namespace)',
      )
      .option('--via <node>', 'Node at which a connection from outside arrives (default: any)')
      .option(
        '--rules [mode]',
        'Shows the rules that the packet meets, in the syntax of the mode (default: that of the cluster)',
      )
      .option(
        '--at <time>',
        'Explains it on the objects as they were: RFC 3339, 15:04, 15:04:05, or 10m for ten minutes ago; only servers of Fairlead know',
      )
      .option('--protocol <name>', 'tcp, udp or sctp (default: that of the port of the Service)')
      .addOption(
        new Option('-o, --output <format>', 'Format for programs').choices(['json', 'yaml']),
      )
      .option('-v, --verbose', 'All endpoints, nodes and assumptions, and no limit on the lines');
    addClusterFlags(addLiveFlags(command)).action(async (target: string, flags: TraceFlags) =>
      run(target, flags, world),
    );
  },
};

async function run(text: string, flags: TraceFlags, world: World): Promise<void> {
  const target = parsed(parseTarget(text));
  const from = flags.from === undefined ? anyPod : parsed(parseSource(flags.from));
  const protocol = flags.protocol === undefined ? undefined : parseProtocol(flags.protocol);
  if (flags.protocol !== undefined && protocol === undefined) {
    throw new UsageError(`--protocol: "${flags.protocol}" is no protocol, want tcp, udp or sctp`);
  }
  if (flags.via !== undefined && from.kind !== 'outside') {
    throw new UsageError(
      '--via: only a connection from outside arrives at a node, want --from outside',
    );
  }
  if (flags.live === true && flags.at !== undefined) {
    throw new UsageError('--live: the past cannot be tried, want either --live or --at');
  }
  checkMode(flags);
  checkMoment('--at', flags.at, world);
  await withExplainSession(flags, world, async (session) => {
    const request: TraceRequest = {
      ...{ target, text, from, namespace: session.namespace },
      ...(protocol === undefined ? {} : { protocol }),
      ...(flags.via === undefined ? {} : { via: flags.via }),
    };
    await explain(request, { session, flags, world });
  });
}

const anyPod = { kind: 'any-pod' } as const;

type Parts = { readonly session: Session; readonly flags: TraceFlags; readonly world: World };

async function explain(request: TraceRequest, { session, flags, world }: Parts): Promise<void> {
  const live = flags.live === true ? await import('../explain/try-live.ts') : undefined;
  const up = live?.runningUp(session, flags.dataDir, world);
  const settingFlags = settingsOf(flags);
  const at = await serverMoment('--at', flags.at, { session, world });
  const reading = readTraceSnapshot(
    session.caller,
    { ...request, flags: settingFlags, ...(at === undefined ? {} : { at }) },
    world.interrupted,
  );
  const snapshot = await withProgress(world, 'Reading the objects of the connection', reading);
  const index = indexSnapshot(snapshot);
  const settings = withMode(clusterSettings(index, settingFlags), up && live?.modeOf(up));
  const mode = await loadMode(settings);
  const showRules = ({ rules, packet }: Pick<JudgedConnection, 'rules' | 'packet'>) =>
    metRules(mode, rules.state, packet);
  const judged: JudgedConnection[] = [];
  const found = parsed(
    traceConnection(index, request, {
      ...{ settings, mode, onJudged: (one) => judged.push(one) },
      ...(at === undefined ? {} : { at }),
      ...(flags.rules === undefined ? {} : { showRules }),
    }),
  );
  for (const line of missingRightsText({ ...snapshot, unread: found.unread })) {
    world.writeError(`${line}\n`);
  }
  const limits = { timeoutMs: flags.timeout, count: flags.count };
  const relayed = mode.traits.relayedProtocols;
  const tried = await live?.tryLive(
    { trace: found, judged, relayed, limits },
    { session, world, index, up },
  );
  print(tried === undefined ? found : { ...found, live: tried }, flags, world);
  if (tried !== undefined && (tried.differences.length > 0 || !tried.isAnswered)) {
    throw new FailedError();
  }
}

function print(found: Trace, { output, verbose }: TraceFlags, world: World): void {
  if (output !== undefined) world.write(objectText(found, output));
  else world.write(renderTrace(found, { style: paintFor(world), isVerbose: verbose === true }));
}

/** What `up` says of its nodes is better than a default. */
function withMode(settings: ClusterSettings, mode: string | undefined): ClusterSettings {
  if (mode === undefined || settings.proxyMode.source !== 'default') return settings;
  return { ...settings, proxyMode: { value: mode, source: '`up` on this machine' } };
}

/** Rules of one mode are explained together with what it does. */
function modeFlag({ rules, proxyMode }: TraceFlags): string | undefined {
  return typeof rules === 'string' ? rules : proxyMode;
}

function checkMode(flags: TraceFlags): void {
  checkModeName(typeof flags.rules === 'string' ? '--rules' : '--proxy-mode', modeFlag(flags));
}

function settingsOf(flags: TraceFlags): SettingFlags {
  const proxyMode = modeFlag(flags);
  return settingFlags({ ...flags, ...(proxyMode === undefined ? {} : { proxyMode }) });
}

function parsed<T>(result: Parsed<T>): T {
  if ('error' in result) throw new UsageError(result.error);
  return result.value;
}
