// Finds out why Services do not work, on any cluster, with the right to read.
import { Option } from 'commander';
import { allChecks } from '../../doctor/all-checks.ts';
import { type Severity, severities } from '../../doctor/check.ts';
import { type DiagnoseScope, type Diagnosis, diagnose } from '../../doctor/diagnose.ts';
import { diagnosisObject } from '../../doctor/diagnosis-object.ts';
import { similarWord } from '../../doctor/edit-distance.ts';
import { readPage } from '../../doctor/read-page.ts';
import { renderDiagnosis } from '../../doctor/render-diagnosis.ts';
import { addClientFlags, type ClientFlags, type Session } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { nameIsDnsLabel } from '../../meta/names.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot, type SnapshotIndex } from '../../snapshot/index-snapshot.ts';
import { isRead } from '../../snapshot/snapshot.ts';
import {
  missingRightsText,
  readSessionSnapshot,
  withExplainSession,
} from '../explain/explain-session.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';

type DoctorFlags = ClientFlags & {
  readonly allNamespaces?: boolean;
  readonly output?: 'json' | 'yaml';
  readonly failOn: Severity | 'never';
  readonly explain?: string;
  readonly verbose?: boolean;
};

export const doctor: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument('[service]', 'svc/NAME; without it all Services of the namespace')
      .option('-A, --all-namespaces', 'Services of all namespaces')
      .addOption(
        new Option('-o, --output <format>', 'Format for programs').choices(['json', 'yaml']),
      )
      .addOption(
        new Option('--fail-on <severity>', 'Exit code 1 from findings of this severity on')
          .choices([...severities, 'never'])
          .default('error'),
      )
      .option('--explain <code>', 'Prints the page of a finding, such as FL0101')
      .option('-v, --verbose', 'Evidence and notes, and no limit on the lines')
      .action(async (target: string | undefined, flags: DoctorFlags) => {
        if (flags.explain !== undefined) await explain(flags.explain, world);
        else await run({ target, flags, world });
      });
  },
};

async function explain(word: string, world: World): Promise<void> {
  const code = word.toUpperCase();
  const codes = allChecks.map((check) => check.code);
  if (!codes.includes(code)) {
    const similar = similarWord(code, codes);
    const hint = similar === undefined ? '' : `; did you mean ${similar}?`;
    throw new UsageError(
      `--explain: "${word}" is not the code of a finding, want one like FL0101${hint}`,
    );
  }
  world.write(await readPage(code));
}

type Request = {
  readonly target: string | undefined;
  readonly flags: DoctorFlags;
  readonly world: World;
};

async function run({ target, flags, world }: Request): Promise<void> {
  const service = target === undefined ? undefined : serviceName(target);
  if (service !== undefined && flags.allNamespaces === true) {
    throw new UsageError(
      '--all-namespaces: one Service has one namespace, want -n NAMESPACE with it',
    );
  }
  const diagnosis = await withExplainSession(flags, world, (session) =>
    diagnoseCluster({ session, service, flags, world }),
  );
  if (shouldFail(diagnosis, flags.failOn)) throw new FailedError();
}

type SessionRequest = {
  readonly session: Session;
  readonly service: string | undefined;
  readonly flags: DoctorFlags;
  readonly world: World;
};

async function diagnoseCluster(request: SessionRequest): Promise<Diagnosis> {
  const { session, service, flags, world } = request;
  const { namespace } = session;
  const isEverywhere = flags.allNamespaces === true;
  const snapshot = await readSessionSnapshot(
    session,
    world,
    isEverywhere ? {} : { namespaces: [namespace] },
  );
  const index = indexSnapshot(snapshot);
  const scope: DiagnoseScope = {
    ...(isEverywhere ? {} : { namespace }),
    ...(service === undefined ? {} : { service }),
    isLive: true,
    nowMs: world.now(),
  };
  if (!isEverywhere) checkScope(index, namespace, service);
  for (const text of missingRightsText(snapshot)) world.writeError(`${text}\n`);
  const diagnosis = diagnose({ index, settings: clusterSettings(index), scope });
  print(diagnosis, index, request);
  return diagnosis;
}

const prefixes = /^(?:svc|service|services)\//;

function serviceName(target: string): string {
  const name = target.replace(prefixes, '');
  if (prefixes.test(target) && nameIsDnsLabel(name, false).length === 0) return name;
  throw new UsageError(`"${target.slice(0, 100)}" is not a Service, want svc/NAME`);
}

function checkScope(index: SnapshotIndex, namespace: string, service: string | undefined): void {
  const { snapshot } = index;
  const isUnknown = isRead(snapshot, 'namespaces') && index.namespace(namespace) === undefined;
  if (isUnknown && index.servicesIn(namespace).length === 0) {
    const names = snapshot.objects.namespaces.map(({ metadata }) => metadata.name ?? '');
    throw new UsageError(`namespace "${namespace}" not found${didYouMean(namespace, names)}`);
  }
  if (!isRead(snapshot, 'services', namespace)) {
    throw new UsageError(missingRightsText(snapshot)[0] ?? 'services could not be read');
  }
  if (service === undefined || index.service(namespace, service) !== undefined) return;
  const names = index.servicesIn(namespace).map(({ metadata }) => metadata.name ?? '');
  throw new UsageError(
    `services "${service}" not found in namespace "${namespace}"${didYouMean(service, names)}`,
  );
}

function didYouMean(word: string, names: readonly string[]): string {
  const similar = similarWord(word, names);
  return similar === undefined ? '' : `; did you mean "${similar}"?`;
}

function print(diagnosis: Diagnosis, { snapshot }: SnapshotIndex, request: SessionRequest): void {
  const { flags, world } = request;
  if (flags.output !== undefined) {
    world.write(objectText(diagnosisObject(diagnosis, snapshot), flags.output));
    return;
  }
  const { columns, rows } = world.terminal ?? defaultScreen;
  const paint = paintFor(world);
  const isVerbose = flags.verbose === true;
  world.write(renderDiagnosis(diagnosis, { paint, isVerbose, columns, rows }));
}

/** Of a pipe: what a reader takes in at once. */
const defaultScreen = { columns: 160, rows: 50 };

function shouldFail({ findings }: Diagnosis, failOn: Severity | 'never'): boolean {
  if (failOn === 'never') return false;
  return findings.some(
    ({ severity }) => severities.indexOf(severity) <= severities.indexOf(failOn),
  );
}
