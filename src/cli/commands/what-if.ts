// Predicts what changes would do to Services, on any cluster, with the right to read. Nothing is written.
import { type Command, Option } from 'commander';
import { addClientFlags, type ClientFlags, type Session } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../snapshot/index-snapshot.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { TooManyPodsError } from '../../snapshot/settle.ts';
import { type Change, ChangeError } from '../../what-if/change.ts';
import { compareCluster } from '../../what-if/compare-cluster.ts';
import { type ChangeWord, parseChange } from '../../what-if/parse-change.ts';
import { renderWhatIf } from '../../what-if/render-what-if.ts';
import { type Level, levels, type WhatIf } from '../../what-if/what-if.ts';
import { missingRightsText, withExplainSession } from '../explain/explain-session.ts';
import { readWhatIfSnapshot } from '../explain/read-what-if.ts';
import {
  addClusterFlags,
  type ClusterFlags,
  checkModeName,
  loadMode,
  settingFlags,
} from '../explain/setting-flags.ts';
import { readManifestTree } from '../manifests/read-manifest-tree.ts';
import { manifestSources } from '../manifests/read-manifests.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';

type FailOn = Exclude<Level, 'none'> | 'never';

type WhatIfFlags = ClientFlags &
  ClusterFlags & {
    readonly allNamespaces?: boolean;
    readonly output?: 'json' | 'yaml';
    readonly failOn: FailOn;
    readonly verbose?: boolean;
  };

/** In the order of the command line, which is that in which the changes are made. */
type Request = { readonly word: ChangeWord | 'filename'; readonly text: string };

export const whatIf: CommandDefinition = {
  configure(command, world) {
    const requests: Request[] = [];
    addChangeFlags(addClientFlags(command), requests);
    command
      .option('-A, --all-namespaces', 'Services of all namespaces (default, without -n)')
      .addOption(
        new Option('--fail-on <level>', 'Exit code 1 from changes of this level on')
          .choices(['outage', 'interruption', 'change', 'never'])
          .default('never'),
      )
      .addOption(
        new Option('-o, --output <format>', 'Format for programs').choices(['json', 'yaml']),
      )
      .option('-v, --verbose', 'All Services, endpoints and names, and no limit on the lines');
    addClusterFlags(command).action(async (flags: WhatIfFlags) => {
      const found = await run({ requests, flags, world });
      if (shouldFail(found, flags.failOn)) throw new FailedError();
    });
  },
};

const changeFlags: readonly (readonly [flags: string, help: string, word: Request['word']])[] = [
  ['--drain <node>', 'Drains a node: node/NAME', 'drain'],
  ['--cordon <node>', 'Lets a node take no new pods: node/NAME', 'cordon'],
  [
    '--delete <object>',
    'Deletes an object: pod/NAME, node/NAME, svc/NAME, deploy/NAME, ...; [NAMESPACE/]NAME where it has one',
    'delete',
  ],
  [
    '--scale <workload=replicas>',
    'Scales deploy/NAME, rs/NAME, sts/NAME or rc/NAME, as in deploy/web=2',
    'scale',
  ],
  [
    '--set <object:field=value>',
    'Sets a field, as in svc/web:internalTrafficPolicy=Local, svc/web:ports[name=http].port=81',
    'set',
  ],
  ['--unready <pod>', 'Lets the readiness probe of a pod fail: pod/NAME', 'unready'],
  [
    '-f, --filename <file>',
    'Applies manifests: a file, a directory, or "-" for standard input',
    'filename',
  ],
];

function addChangeFlags(command: Command, requests: Request[]): void {
  for (const [flags, help, word] of changeFlags) {
    command.option(flags, `${help}; may be repeated`, (text: string, _before?: unknown) => {
      requests.push({ word, text });
      return text;
    });
  }
}

type Parts = {
  readonly requests: readonly Request[];
  readonly flags: WhatIfFlags;
  readonly world: World;
};

async function run({ requests, flags, world }: Parts): Promise<WhatIf> {
  checkRequests(requests, flags);
  return withExplainSession(flags, world, async (session) => {
    const changes = await changesOf(requests, session, world);
    const manifests = changes.flatMap((one) => (one.kind === 'manifest' ? [one.manifest] : []));
    const snapshot = await readWhatIfSnapshot(session, world, manifests);
    for (const line of missingRightsText(snapshot)) world.writeError(`${line}\n`);
    const settings = clusterSettings(indexSnapshot(snapshot), settingFlags(flags));
    const mode = await loadMode(settings);
    const scope = flags.allNamespaces === true || !session.isNamespaceSet ? undefined : session;
    const found = explained(() =>
      compareCluster(
        snapshot,
        {
          ...{ changes, namespace: session.namespace, now: world.now() },
          ...(scope === undefined ? {} : { scope: scope.namespace }),
        },
        { settings, mode },
      ),
    );
    print(found, flags, world);
    return found;
  });
}

/** Before a server is contacted. */
function checkRequests(requests: readonly Request[], flags: WhatIfFlags): void {
  if (requests.length === 0) {
    throw new UsageError(
      'there is nothing to compare: want at least one of --drain, --cordon, --delete, --scale, --set, --unready and -f',
    );
  }
  if (requests.filter(({ word, text }) => word === 'filename' && text === '-').length > 1) {
    throw new UsageError('--filename: standard input can be read once');
  }
  checkModeName('--proxy-mode', flags.proxyMode);
  for (const { word, text } of requests) {
    if (word !== 'filename') explained(() => parseChange(word, text, 'default'));
  }
}

async function changesOf(
  requests: readonly Request[],
  { namespace }: Session,
  world: World,
): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (const { word, text } of requests) {
    if (word !== 'filename') changes.push(explained(() => parseChange(word, text, namespace)));
    else changes.push(...(await manifestChanges(text, world)));
  }
  return changes;
}

async function manifestChanges(text: string, world: World): Promise<readonly Change[]> {
  const cwd = world.cwd();
  const paths = text === '-' ? [text] : await manifestSources(text, cwd);
  if (paths.length === 0) throw new UsageError(`--filename: "${text}" has no manifests`);
  const { manifests, problems } = await readManifestTree({ paths, cwd, command: 'what-if' });
  const [problem] = problems;
  if (problem !== undefined) {
    const { source, line, message } = problem;
    throw new UsageError(`--filename: ${source}:${line}: ${message}`);
  }
  return manifests.map((manifest) => manifestChange(manifest, text));
}

const manifestChange = (manifest: Manifest, text: string): Change => ({
  ...{ kind: 'manifest', manifest, text: `-f ${text}` },
});

/** A change that cannot be made is a mistake of the command line. */
function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ChangeError || error instanceof TooManyPodsError) {
      throw new UsageError(error.message);
    }
    throw error;
  }
}

function print(found: WhatIf, flags: WhatIfFlags, world: World): void {
  if (flags.output !== undefined) {
    world.write(objectText(found, flags.output));
    return;
  }
  const { columns, rows } = world.terminal ?? defaultScreen;
  const isVerbose = flags.verbose === true;
  world.write(renderWhatIf(found, { paint: paintFor(world), isVerbose, columns, rows }));
}

/** Of a pipe: what a reader takes in at once. */
const defaultScreen = { columns: 160, rows: 50 };

function shouldFail({ verdict }: WhatIf, failOn: FailOn): boolean {
  return failOn !== 'never' && levels.indexOf(verdict.level) >= levels.indexOf(failOn);
}
