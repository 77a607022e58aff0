// Prints a diagnosis in the format that the user wants, and decides whether the command fails.
import { type Severity, severities } from '../../doctor/check.ts';
import type { Diagnosis } from '../../doctor/diagnose.ts';
import { diagnosisObject } from '../../doctor/diagnosis-object.ts';
import { readPages } from '../../doctor/read-page.ts';
import { renderDiagnosis } from '../../doctor/render-diagnosis.ts';
import { sarifLog } from '../../doctor/sarif-log.ts';
import type { World } from '../../flags/command.ts';
import { packageVersion } from '../../flags/package-version.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';

export const formats = ['json', 'yaml', 'sarif'] as const;

export type ReportOptions = {
  /** Absent: text for people. */
  readonly output?: (typeof formats)[number];
  readonly verbose?: boolean;
};

export type Diagnosed = {
  readonly diagnosis: Diagnosis;
  readonly snapshot: Snapshot;
  /** Of manifests. */
  readonly ignoredKinds?: readonly string[];
};

export async function reportDiagnosis(
  { diagnosis, snapshot, ignoredKinds }: Diagnosed,
  { output, verbose = false }: ReportOptions,
  world: World,
): Promise<void> {
  if (output === 'sarif') {
    const pages = await readPages(diagnosis.findings.map(({ code }) => code));
    const log = sarifLog(diagnosis, { version: packageVersion, pages });
    world.write(`${JSON.stringify(log, undefined, 2)}\n`);
    return;
  }
  if (output !== undefined) {
    world.write(objectText(diagnosisObject(diagnosis, snapshot, ignoredKinds), output));
    return;
  }
  const { columns, rows } = world.terminal ?? defaultScreen;
  const paint = paintFor(world);
  world.write(renderDiagnosis(diagnosis, { paint, isVerbose: verbose, columns, rows }));
}

/** Of a pipe: what a reader takes in at once. */
const defaultScreen = { columns: 160, rows: 50 };

export type FailOn = Severity | 'never';

export function isFailure({ findings }: Diagnosis, failOn: FailOn): boolean {
  if (failOn === 'never') return false;
  return findings.some(
    ({ severity }) => severities.indexOf(severity) <= severities.indexOf(failOn),
  );
}
