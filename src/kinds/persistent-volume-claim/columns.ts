// Columns of `kubectl get persistentvolumeclaims`.
import { betaStorageClassAnnotation } from '../../meta/well-known-annotations.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { accessModesText } from './access-modes.ts';
import type { PersistentVolumeClaim } from './types.ts';

/** The class of a claim, wherever it is written; empty for none. */
export const classOfClaim = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[betaStorageClassAnnotation] ?? spec.storageClassName ?? '';

export const claimColumns: readonly Column<PersistentVolumeClaim>[] = [
  nameColumn,
  {
    name: 'Status',
    type: 'string',
    description: 'phase represents the current phase of PersistentVolumeClaim.',
    cell: ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
  },
  {
    name: 'Volume',
    type: 'string',
    description: 'volumeName is the binding reference to the PersistentVolume backing this claim.',
    cell: ({ spec }) => spec.volumeName ?? '',
  },
  {
    name: 'Capacity',
    type: 'string',
    description: 'capacity represents the actual resources of the underlying volume.',
    cell: ({ spec, status }) => (spec.volumeName ? (status.capacity?.storage ?? '0') : ''),
  },
  {
    name: 'Access Modes',
    type: 'string',
    description:
      'accessModes contains the actual access modes the volume backing the PVC has. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes-1',
    cell: ({ spec, status }) => (spec.volumeName ? accessModesText(status.accessModes) : ''),
  },
  {
    name: 'StorageClass',
    type: 'string',
    description: 'StorageClass of the pvc',
    cell: classOfClaim,
  },
  {
    name: 'VolumeAttributesClass',
    type: 'string',
    description: 'VolumeAttributesClass of the pvc',
    cell: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
  },
  ageColumn,
  {
    name: 'VolumeMode',
    type: 'string',
    priority: 1,
    description:
      'volumeMode defines what type of volume is required by the claim. Value of Filesystem is implied when not included in claim spec.',
    cell: ({ spec }) => spec.volumeMode ?? '<unset>',
  },
];
