import { betaStorageClassAnnotation } from '../../meta/well-known-annotations.ts';
import { fractionalQuantity } from '../pod/warnings-containers.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './types.ts';

/** Both a claim's and a volume's annotation of the class. */
export const oldClassWarnings = (
  annotations: Readonly<Record<string, string>> = {},
): readonly string[] =>
  Object.hasOwn(annotations, betaStorageClassAnnotation)
    ? [
        `metadata.annotations[${betaStorageClassAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      ]
    : [];

export const claimWarnings = ({ metadata, spec }: PersistentVolumeClaim): readonly string[] => [
  ...oldClassWarnings(metadata.annotations),
  ...claimSpecWarnings(spec, 'spec'),
];

/** For a claim and for the templates of one. */
export function claimSpecWarnings(
  { resources }: PersistentVolumeClaimSpec,
  field: string,
): readonly string[] {
  const { requests = {}, limits = {} } = resources;
  return [
    ...fractionalQuantity(requests, 'storage', `${field}.resources.requests`),
    ...fractionalQuantity(limits, 'storage', `${field}.resources.limits`),
  ];
}
