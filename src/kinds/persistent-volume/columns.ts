// Columns of `kubectl get persistentvolumes`.
import { betaStorageClassAnnotation } from '../../meta/well-known-annotations.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { accessModesText } from '../persistent-volume-claim/access-modes.ts';
import type { PersistentVolume } from './types.ts';

/** The class of a volume, wherever it is written; empty for none. */
export const classOfVolume = ({ metadata, spec }: PersistentVolume): string =>
  metadata.annotations?.[betaStorageClassAnnotation] ?? spec.storageClassName ?? '';

export const volumeColumns: readonly Column<PersistentVolume>[] = [
  nameColumn,
  {
    name: 'Capacity',
    type: 'string',
    description:
      "capacity is the description of the persistent volume's resources and capacity. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#capacity",
    cell: ({ spec }) => spec.capacity?.storage ?? '0',
  },
  {
    name: 'Access Modes',
    type: 'string',
    description:
      'accessModes contains all ways the volume can be mounted. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes',
    cell: ({ spec }) => accessModesText(spec.accessModes),
  },
  {
    name: 'Reclaim Policy',
    type: 'string',
    description:
      'persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim. Valid options are Retain (default for manually created PersistentVolumes), Delete (default for dynamically provisioned PersistentVolumes), and Recycle (deprecated). Recycle must be supported by the volume plugin underlying this PersistentVolume. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#reclaiming',
    cell: ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '',
  },
  {
    name: 'Status',
    type: 'string',
    description:
      'phase indicates if a volume is available, bound to a claim, or released by a claim. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#phase',
    cell: ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
  },
  {
    name: 'Claim',
    type: 'string',
    description:
      'claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to be non-nil when bound. claim.VolumeName is the authoritative bind between PV and PVC. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#binding',
    cell: ({ spec }) =>
      spec.claimRef === undefined
        ? ''
        : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`,
  },
  {
    name: 'StorageClass',
    type: 'string',
    description: 'StorageClass of the pv',
    cell: classOfVolume,
  },
  {
    name: 'VolumeAttributesClass',
    type: 'string',
    description: 'VolumeAttributesClass of the pv',
    cell: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
  },
  {
    name: 'Reason',
    type: 'string',
    description:
      'reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy display in the CLI.',
    cell: ({ status }) => status.reason ?? '',
  },
  ageColumn,
  {
    name: 'VolumeMode',
    type: 'string',
    priority: 1,
    description:
      'volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block state. Value of Filesystem is implied when not included in spec.',
    cell: ({ spec }) => spec.volumeMode ?? '<unset>',
  },
];
