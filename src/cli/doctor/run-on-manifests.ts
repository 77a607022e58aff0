// `fairlead doctor -f`: manifests, with no cluster at all.

import type { Diagnosis } from '../../doctor/diagnose.ts';
import { diagnoseManifests, type ManifestDiagnosis } from '../../doctor/diagnose-manifests.ts';
import { similarWord } from '../../doctor/edit-distance.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { printable } from '../../meta/printable.ts';
import { withProgress } from '../explain/progress.ts';
import { readManifestTree } from '../manifests/read-manifest-tree.ts';
import { planFixes } from './plan-fixes.ts';
import { printFixes } from './print-fixes.ts';
import { type ReportOptions, reportDiagnosis } from './report-diagnosis.ts';

export type ManifestsRequest = ReportOptions & {
  readonly filename: readonly string[];
  /** Of objects that name none. */
  readonly namespace: string;
  readonly service?: string;
  /** Prints the patches. */
  readonly fix?: boolean;
};

/** More names say nothing more. */
const maxKinds = 20;

export async function runOnManifests(request: ManifestsRequest, world: World): Promise<Diagnosis> {
  const { filename, namespace, service, fix } = request;
  const reading = readManifestTree({ paths: filename, cwd: world.cwd() });
  const { manifests, problems, notes } = await withProgress(
    world,
    'Reading the manifests',
    reading,
  );
  const found = diagnoseManifests({
    ...{ manifests, problems, namespace, nowMs: world.now() },
    ...(service === undefined ? {} : { service }),
  });
  if (service !== undefined) checkService(found, namespace, service);
  for (const note of notes) world.writeError(`Left out: ${printable(note)}\n`);
  reportIgnored(found, world);
  await reportDiagnosis(found, request, world);
  const fixes = fix === true ? planFixes(found.diagnosis.findings) : [];
  printFixes(fixes, { manifests, namespace }, world);
  return found.diagnosis;
}

function checkService({ index }: ManifestDiagnosis, namespace: string, service: string): void {
  if (index.service(namespace, service) !== undefined) return;
  const names = index.servicesIn(namespace).map(({ metadata }) => metadata.name ?? '');
  const similar = similarWord(service, names);
  const hint = similar === undefined ? '' : `; did you mean "${similar}"?`;
  throw new UsageError(
    `services "${service}" not found in namespace "${namespace}" of the manifests${hint}`,
  );
}

const maxKindLength = 63;

function reportIgnored({ ignoredKinds }: ManifestDiagnosis, { writeError }: World): void {
  if (ignoredKinds.length === 0) return;
  const shown = ignoredKinds.slice(0, maxKinds).map((kind) => kind.slice(0, maxKindLength));
  const more = ignoredKinds.length > maxKinds ? ' and others' : '';
  writeError(`${printable(`Kinds that were not read: ${shown.join(', ')}${more}`)}\n`);
}
