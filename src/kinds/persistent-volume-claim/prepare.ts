// What the server sets of a claim. Upstream: pkg/api/persistentvolumeclaim/util.go and the strategy.
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './types.ts';

export function prepareClaimCreate(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  return {
    ...claim,
    spec: withBothSources(withoutUnknownSource(claim.spec)),
    status: { phase: 'Pending' },
  };
}

export function prepareClaimUpdate(
  before: PersistentVolumeClaim,
  after: PersistentVolumeClaim,
): PersistentVolumeClaim {
  const hadSource = before.spec.dataSource !== undefined || before.spec.dataSourceRef !== undefined;
  const spec = hadSource ? after.spec : withoutUnknownSource(after.spec);
  return { ...after, spec: withBothSources(spec), status: before.status };
}

export const prepareClaimStatus = (
  before: PersistentVolumeClaim,
  after: PersistentVolumeClaim,
): PersistentVolumeClaim => ({ ...after, spec: before.spec });

/** Sources of kinds that old servers did not know are dropped, and so are those of other namespaces, which are not enabled. */
function withoutUnknownSource(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource, dataSourceRef, ...others } = spec;
  return {
    ...others,
    ...(dataSource === undefined || !isKnownSource(dataSource) ? {} : { dataSource }),
    ...(dataSourceRef === undefined || dataSourceRef.namespace ? {} : { dataSourceRef }),
  };
}

function isKnownSource({
  apiGroup = '',
  kind,
}: NonNullable<PersistentVolumeClaimSpec['dataSource']>) {
  return (
    (apiGroup === '' && kind === 'PersistentVolumeClaim') ||
    (apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot')
  );
}

/** The two fields say the same, whichever of them the client knows. */
function withBothSources(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    return { ...spec, dataSourceRef: dataSource };
  }
  if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { namespace: _none, ...local } = dataSourceRef;
    return { ...spec, dataSource: local };
  }
  return spec;
}
