// The plugins for claims and volumes. Kubernetes: plugin/pkg/admission/storage.

import { classOfClaim } from '../../kinds/persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { defaultClass } from '../../kinds/storage-class/default-class.ts';
import type { StorageClass } from '../../kinds/storage-class/types.ts';
import { claimProtectionFinalizer, volumeProtectionFinalizer } from '../../meta/finalizers.ts';
import { type KubeObject, withMetadata } from '../../meta/object.ts';
import { betaStorageClassAnnotation } from '../../meta/well-known-annotations.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';

const isClaim = (request: AdmissionRequest): boolean =>
  request.subresource === '' && isResource(request, '', 'persistentvolumeclaims');

const storageClasses = 'storageclasses.storage.k8s.io';

/** A claim that names no class gets the default class, if there is one. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  onByDefault: true,
  mutate(request, { reader }) {
    if (request.operation !== 'create' || !isClaim(request)) return undefined;
    const claim = request.after as PersistentVolumeClaim;
    const isOld = claim.metadata.annotations?.[betaStorageClassAnnotation] !== undefined;
    if (isOld || claim.spec.storageClassName !== undefined) return undefined;
    const found = defaultClass(reader.list(storageClasses) as readonly StorageClass[]);
    if (found === undefined) return undefined;
    const spec = { ...claim.spec, storageClassName: found.metadata.name ?? '' };
    return { ...claim, spec } as KubeObject;
  },
};

/** Claims and volumes stay while they are in use: controllers remove these finalizers. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  onByDefault: true,
  mutate(request) {
    const { operation, subresource, after } = request;
    if (operation !== 'create' || subresource !== '' || after === undefined) return undefined;
    if (isClaim(request)) return withFinalizer(after, claimProtectionFinalizer);
    return isResource(request, '', 'persistentvolumes')
      ? withFinalizer(after, volumeProtectionFinalizer)
      : undefined;
  },
};

function withFinalizer(object: KubeObject, finalizer: string): KubeObject | undefined {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return undefined;
  return withMetadata(object, { ...object.metadata, finalizers: [...finalizers, finalizer] });
}

const notResizable =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

/** Claims grow only where their class allows it. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  onByDefault: true,
  validate(request, { reader }) {
    if (request.operation !== 'update' || !isClaim(request)) return undefined;
    const [before, after] = [request.before, request.after] as PersistentVolumeClaim[];
    if (before === undefined || after === undefined) return undefined;
    const sizeOf = ({ spec }: PersistentVolumeClaim): string =>
      spec.resources.requests?.storage ?? '0';
    if (compareQuantities(sizeOf(after), sizeOf(before)) <= 0) return undefined;
    if (before.status.phase !== 'Bound')
      throw refused(request, 'Only bound persistent volume claims can be expanded');
    const name = classOfClaim(after);
    const storage =
      name === '' || name !== classOfClaim(before)
        ? undefined
        : reader.get(storageClasses, '', name);
    if (!(storage as StorageClass | undefined)?.allowVolumeExpansion)
      throw refused(request, notResizable);
    return undefined;
  },
};
