// `fairlead doctor` on a cluster, with the right to read; and with more rights, what it repairs there.
import { type DiagnoseScope, type Diagnosis, diagnose } from '../../doctor/diagnose.ts';
import { similarWord } from '../../doctor/edit-distance.ts';
import { readNewestPropagation } from '../../doctor/read-newest-propagation.ts';
import type { Session } from '../../flags/client-flags.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { systemClock } from '../../host/clock.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot, type SnapshotIndex } from '../../snapshot/index-snapshot.ts';
import { isRead, type Snapshot } from '../../snapshot/snapshot.ts';
import { missingRightsText, readSessionSnapshot } from '../explain/explain-session.ts';
import { planFixes } from './plan-fixes.ts';
import { type Diagnosed, type ReportOptions, reportDiagnosis } from './report-diagnosis.ts';
import { checkCanAsk, runFixes } from './run-fixes.ts';
import { runWatch } from './run-watch.ts';

export type ClusterRequest = ReportOptions & {
  readonly isEverywhere: boolean;
  /** Of the namespace of the session. */
  readonly service?: string;
  readonly fix?: boolean;
  /** Does not ask. */
  readonly yes?: boolean;
  readonly watch?: boolean;
};

type Parts = { readonly session: Session; readonly world: World };

/** Resolves to what is left in the end. Throws UsageError for a target that is not there. */
export async function runOnCluster(request: ClusterRequest, parts: Parts): Promise<Diagnosis> {
  const { world } = parts;
  if (request.fix === true) checkCanAsk(request.yes === true, world);
  const found = await diagnoseCluster(request, parts);
  for (const text of missingRightsText(found.snapshot)) world.writeError(`${text}\n`);
  await reportDiagnosis(found, request, world);
  if (request.fix === true) return (await fix(found, request, parts)).diagnosis;
  if (request.watch === true) {
    await runWatch({
      ...{ ...parts, clock: systemClock, first: found, verbose: request.verbose === true },
      diagnoseAgain: (snapshot) => diagnoseSnapshot(snapshot, request, parts).diagnosis,
    });
  }
  return found.diagnosis;
}

async function fix(found: Diagnosed, request: ClusterRequest, parts: Parts): Promise<Diagnosed> {
  const { world } = parts;
  const fixes = planFixes(found.diagnosis.findings);
  if (fixes.length === 0) {
    if (found.diagnosis.findings.some(({ severity }) => severity !== 'info'))
      world.write('No finding has a patch that could be applied\n');
    return found;
  }
  const { applied, left } = await runFixes(fixes, { isAgreed: request.yes === true }, parts);
  world.write(`\n${applied} applied, ${left} not\n`);
  if (applied === 0 || world.interrupted.aborted) return found;
  const after = await diagnoseCluster(request, parts);
  world.write('\nWhat remains:\n\n');
  await reportDiagnosis(after, request, world);
  return after;
}

async function diagnoseCluster(request: ClusterRequest, parts: Parts): Promise<Diagnosed> {
  const { session, world } = parts;
  const { namespace } = session;
  const { isEverywhere, service } = request;
  const snapshot = await readSessionSnapshot(
    session,
    world,
    isEverywhere ? {} : { namespaces: [namespace] },
  );
  const index = indexSnapshot(snapshot);
  if (!isEverywhere) checkScope(index, namespace, service);
  const { services } = snapshot.objects;
  const concerned = services.filter(
    ({ metadata }) => service === undefined || metadata.name === service,
  );
  const propagation = await readNewestPropagation(
    { caller: session.caller, index, services: concerned, clock: systemClock },
    world.interrupted,
  );
  const scope = scopeOf(request, parts);
  const input = { index, settings: clusterSettings(index), scope };
  return {
    snapshot,
    diagnosis: diagnose(propagation === undefined ? input : { ...input, propagation }),
  };
}

function diagnoseSnapshot(snapshot: Snapshot, request: ClusterRequest, parts: Parts): Diagnosed {
  const index = indexSnapshot(snapshot);
  const scope = scopeOf(request, parts);
  return { snapshot, diagnosis: diagnose({ index, settings: clusterSettings(index), scope }) };
}

function scopeOf(
  { isEverywhere, service }: ClusterRequest,
  { session, world }: Parts,
): DiagnoseScope {
  return {
    ...(isEverywhere ? {} : { namespace: session.namespace }),
    ...(service === undefined ? {} : { service }),
    isLive: true,
    nowMs: world.now(),
  };
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
