import { mountOptionsAnnotation } from '../../meta/well-known-annotations.ts';
import { oldClassWarnings } from '../persistent-volume-claim/warnings.ts';
import { fractionalQuantity } from '../pod/warnings-containers.ts';
import { nodeTermWarnings } from '../pod/warnings-scheduling.ts';
import type { SourceName } from './sources.ts';
import type { PersistentVolume } from './types.ts';

const oldSources: readonly (readonly [source: SourceName, message: string, shown?: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  // Upstream's spelling.
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

export function volumeWarnings({ metadata, spec }: PersistentVolume): readonly string[] {
  const { annotations = {} } = metadata;
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return [
    ...oldClassWarnings(annotations),
    ...(Object.hasOwn(annotations, mountOptionsAnnotation)
      ? [
          `metadata.annotations[${mountOptionsAnnotation}]: deprecated since v1.31; use "mountOptions" attribute instead`,
        ]
      : []),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...terms.flatMap((term, index) =>
      nodeTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`),
    ),
    ...oldSources.flatMap(([source, message, shown = source]) =>
      spec[source] === undefined ? [] : [`spec.${shown}: ${message}`],
    ),
    ...fractionalQuantity(spec.capacity ?? {}, 'storage', 'spec.capacity'),
  ];
}
