import type { PersistentVolume, PersistentVolumeSpec } from './types.ts';

export function defaultPersistentVolume(volume: PersistentVolume): PersistentVolume {
  const { spec, status } = volume;
  return {
    ...volume,
    spec: {
      ...spec,
      ...defaultsOfSource(spec),
      persistentVolumeReclaimPolicy: spec.persistentVolumeReclaimPolicy || 'Retain',
      volumeMode: spec.volumeMode ?? 'Filesystem',
    },
    status: { ...status, phase: status.phase || 'Pending' },
  };
}

/** Those that have defaults; where several are set, the volume is refused anyway. */
function defaultsOfSource(spec: PersistentVolumeSpec): Partial<PersistentVolumeSpec> {
  const { hostPath, rbd, iscsi, azureDisk, scaleIO } = spec;
  if (hostPath) return { hostPath: { ...hostPath, type: hostPath.type ?? '' } };
  if (iscsi) return { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface || 'default' } };
  if (azureDisk) {
    const { cachingMode = 'ReadWrite', kind = 'Shared', fsType = 'ext4' } = azureDisk;
    const { readOnly = false } = azureDisk;
    return { azureDisk: { ...azureDisk, cachingMode, kind, fsType, readOnly } };
  }
  if (scaleIO) {
    const storageMode = scaleIO.storageMode || 'ThinProvisioned';
    return { scaleIO: { ...scaleIO, storageMode, fsType: scaleIO.fsType || 'xfs' } };
  }
  if (rbd === undefined) return {};
  const keyring = rbd.keyring || '/etc/ceph/keyring';
  return { rbd: { ...rbd, pool: rbd.pool || 'rbd', user: rbd.user || 'admin', keyring } };
}
