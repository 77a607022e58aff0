// `fairlead doctor` on a cluster, with the right to read.
import { type DiagnoseScope, type Diagnosis, diagnose } from '../../doctor/diagnose.ts';
import { similarWord } from '../../doctor/edit-distance.ts';
import type { Session } from '../../flags/client-flags.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot, type SnapshotIndex } from '../../snapshot/index-snapshot.ts';
import { isRead, type Snapshot } from '../../snapshot/snapshot.ts';
import { missingRightsText, readSessionSnapshot } from '../explain/explain-session.ts';

export type ClusterTarget = {
  readonly isEverywhere: boolean;
  /** Of the namespace of the session. */
  readonly service?: string;
};

export type ClusterDiagnosis = { readonly diagnosis: Diagnosis; readonly snapshot: Snapshot };

/** Throws UsageError for a target that is not there. */
export async function diagnoseCluster(
  session: Session,
  { isEverywhere, service }: ClusterTarget,
  world: World,
): Promise<ClusterDiagnosis> {
  const { namespace } = session;
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
  const diagnosis = diagnose({ index, settings: clusterSettings(index), scope });
  return { diagnosis, snapshot };
}

export function reportMissingRights(snapshot: Snapshot, world: World): void {
  for (const text of missingRightsText(snapshot)) world.writeError(`${text}\n`);
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
