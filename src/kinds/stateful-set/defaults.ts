import { defaultClaim } from '../persistent-volume-claim/defaults.ts';
import { defaultPodTemplate } from '../pod-template/defaults.ts';
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from './types.ts';

const defaultRevisionHistoryLimit = 10;

export function defaultStatefulSet(set: StatefulSet): StatefulSet {
  const { spec } = set;
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } =
    spec.persistentVolumeClaimRetentionPolicy ?? {};
  return {
    ...set,
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      template: defaultPodTemplate(spec.template),
      ...defaultClaims(spec),
      podManagementPolicy: spec.podManagementPolicy || 'OrderedReady',
      updateStrategy: defaultStrategy(spec.updateStrategy),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? defaultRevisionHistoryLimit,
      persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
    },
  };
}

/** Kind and version are written as well, as upstream does. */
function defaultClaims({
  volumeClaimTemplates,
}: StatefulSetSpec): Pick<StatefulSetSpec, 'volumeClaimTemplates'> {
  if (volumeClaimTemplates === undefined) return {};
  return {
    volumeClaimTemplates: volumeClaimTemplates.map((claim) => ({
      ...defaultClaim(claim),
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
    })),
  };
}

function defaultStrategy(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
  const type = strategy.type || 'RollingUpdate';
  const rollingUpdate = strategy.rollingUpdate ?? (strategy.type ? undefined : {});
  if (rollingUpdate === undefined) return { type };
  if (type !== 'RollingUpdate') return { type, rollingUpdate };
  return { type, rollingUpdate: { ...rollingUpdate, partition: rollingUpdate.partition ?? 0 } };
}
