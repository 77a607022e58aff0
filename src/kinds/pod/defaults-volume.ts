// Defaults of volumes.
import { defaultClaimSpec } from '../persistent-volume-claim/defaults.ts';
import { defaultFieldSelector } from './defaults-container.ts';
import { defaultPullPolicy } from './image-tag.ts';
import type { DownwardFile, VolumeProjection } from './projected-volume.ts';
import { type Volume, volumeSources } from './volume.ts';

/** rw-r--r-- */
const fileMode = 0o644;
const tokenLifetimeSeconds = 60 * 60;

type Sources = Omit<Volume, 'name'>;
type SourceDefaults = {
  readonly [K in keyof Sources]-?: (source: Required<Sources>[K]) => Sources[K];
};

const withMode = <T extends { readonly defaultMode?: number }>(source: T): T => ({
  ...source,
  defaultMode: source.defaultMode ?? fileMode,
});

const sourceDefaults: Partial<SourceDefaults> = {
  hostPath: (source) => ({ ...source, type: source.type ?? '' }),
  secret: withMode,
  configMap: withMode,
  downwardAPI: (source) => {
    const { items } = source;
    return withMode(items === undefined ? source : { ...source, items: items.map(defaultFile) });
  },
  projected: (source) => ({
    ...withMode(source),
    sources: source.sources === null ? null : source.sources.map(defaultProjection),
  }),
  iscsi: (source) => ({ ...source, iscsiInterface: source.iscsiInterface || 'default' }),
  rbd: (source) => ({
    ...source,
    pool: source.pool || 'rbd',
    user: source.user || 'admin',
    keyring: source.keyring || '/etc/ceph/keyring',
  }),
  azureDisk: (source) => ({
    ...source,
    cachingMode: source.cachingMode ?? 'ReadWrite',
    kind: source.kind ?? 'Shared',
    fsType: source.fsType ?? 'ext4',
    readOnly: source.readOnly ?? false,
  }),
  scaleIO: (source) => ({
    ...source,
    storageMode: source.storageMode || 'ThinProvisioned',
    fsType: source.fsType || 'xfs',
  }),
  ephemeral: (source) => {
    const template = source.volumeClaimTemplate;
    if (template === undefined) return source;
    const spec = defaultClaimSpec(template.spec);
    return { ...source, volumeClaimTemplate: { ...template, spec } };
  },
  image: (source) => ({
    ...source,
    pullPolicy: source.pullPolicy || defaultPullPolicy(source.reference ?? ''),
  }),
};

export function defaultVolume(volume: Volume): Volume {
  const present = volumeSources.filter((source) => volume[source] !== undefined);
  if (present.length === 0) return { ...volume, emptyDir: {} };
  return present.reduce(defaultSource, volume);
}

function defaultSource<K extends keyof Sources>(volume: Volume, key: K): Volume {
  const apply = sourceDefaults[key] as ((source: unknown) => unknown) | undefined;
  return apply === undefined ? volume : { ...volume, [key]: apply(volume[key]) };
}

function defaultFile(file: DownwardFile): DownwardFile {
  const { fieldRef } = file;
  return fieldRef === undefined ? file : { ...file, fieldRef: defaultFieldSelector(fieldRef) };
}

function defaultProjection(projection: VolumeProjection): VolumeProjection {
  const { downwardAPI, serviceAccountToken } = projection;
  const items = downwardAPI?.items;
  return {
    ...projection,
    ...(items === undefined ? {} : { downwardAPI: { items: items.map(defaultFile) } }),
    ...(serviceAccountToken === undefined
      ? {}
      : {
          serviceAccountToken: {
            ...serviceAccountToken,
            expirationSeconds: serviceAccountToken.expirationSeconds ?? tokenLifetimeSeconds,
          },
        }),
  };
}
