// Finds out why Services do not work, on any cluster, with the right to read; or in manifests, with no cluster at all.
import { Option } from 'commander';
import { allChecks } from '../../doctor/all-checks.ts';
import { severities } from '../../doctor/check.ts';
import { similarWord } from '../../doctor/edit-distance.ts';
import { readPage } from '../../doctor/read-page.ts';
import { addClientFlags, type ClientFlags } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { nameIsDnsLabel } from '../../meta/names.ts';
import { type FailOn, formats, isFailure, type ReportOptions } from '../doctor/report-diagnosis.ts';
import { runOnCluster } from '../doctor/run-on-cluster.ts';
import { runOnManifests } from '../doctor/run-on-manifests.ts';
import { withExplainSession } from '../explain/explain-session.ts';

type DoctorFlags = ClientFlags &
  ReportOptions & {
    readonly allNamespaces?: boolean;
    readonly filename?: readonly string[];
    readonly failOn: FailOn;
    readonly watch?: boolean;
    readonly fix?: boolean;
    readonly yes?: boolean;
    readonly explain?: string;
  };

export const doctor: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument('[service]', 'svc/NAME; without it all Services of the namespace')
      .option('-A, --all-namespaces', 'Services of all namespaces')
      .option(
        '-f, --filename <file>',
        'Manifests instead of a cluster: a file, a directory with all below it, or "-" for standard input; may be repeated',
        (value: string, before: readonly string[] = []) => [...before, value],
      )
      .addOption(new Option('-o, --output <format>', 'Format for programs').choices(formats))
      .addOption(
        new Option('--fail-on <severity>', 'Exit code 1 from findings of this severity on')
          .choices([...severities, 'never'])
          .default('error'),
      )
      .option('--watch', 'Continues, and says what appears and what goes')
      .option('--fix', 'Shows the patches of findings, asks, and applies them; prints them with -f')
      .option('--yes', 'With --fix: applies all of them without asking')
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
  checkTogether(flags);
  const { filename, namespace = 'default' } = flags;
  const request = {
    ...flags,
    isEverywhere: flags.allNamespaces === true,
    ...(service === undefined ? {} : { service }),
  };
  const diagnosis =
    filename === undefined
      ? await withExplainSession(
          flags,
          world,
          (session) => runOnCluster(request, { session, world }),
          { mayUseHome: flags.fix !== true },
        )
      : await runOnManifests({ ...request, filename, namespace }, world);
  if (flags.watch !== true && isFailure(diagnosis, flags.failOn)) throw new FailedError();
}

/** Each of them has a meaning of its own for the output. */
function checkTogether({ watch, fix, yes, output, filename }: DoctorFlags): void {
  const refused = (flag: string, other: string, why: string): UsageError =>
    new UsageError(`${flag}: ${why}, want it without ${other}`);
  if (watch === true && fix === true) throw refused('--watch', '--fix', 'it changes nothing');
  if (watch === true && output !== undefined)
    throw refused('--watch', '--output', 'it prints lines for people');
  if (watch === true && filename !== undefined)
    throw refused('--watch', '--filename', 'manifests are not watched');
  if (fix === true && output !== undefined)
    throw refused('--fix', '--output', 'it prints differences for people');
  if (yes === true && fix !== true)
    throw new UsageError('--yes: there is nothing to agree to, want --fix');
}

const prefixes = /^(?:svc|service|services)\//;

function serviceName(target: string): string {
  const name = target.replace(prefixes, '');
  if (prefixes.test(target) && nameIsDnsLabel(name, false).length === 0) return name;
  throw new UsageError(`"${target.slice(0, 100)}" is not a Service, want svc/NAME`);
}
