// The files of a volume from API objects.
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import type {
  DownwardFile,
  KeyToPath,
  VolumeProjection,
} from '../../kinds/pod/projected-volume.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Volume } from '../../kinds/pod/volume.ts';
import type { Secret } from '../../kinds/secret/types.ts';
import { type PodAddresses, podField } from '../environment/pod-field.ts';
import { resourceField } from '../environment/resource-field.ts';
import { allContainers } from '../pod/container-lists.ts';
import { volumeOwner } from './volume-owner.ts';

export type VolumeFile = { readonly bytes: Uint8Array; readonly mode: number };
/** By path relative to the volume. */
export type VolumeFiles = Readonly<Record<string, VolumeFile>>;
export type VolumeResult = { readonly files: VolumeFiles } | { readonly problem: string };

export type TokenSpec = NonNullable<VolumeProjection['serviceAccountToken']>;

export type VolumeSources = {
  readonly pod: Pod;
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  /** The token issued for the spec. */
  readonly token: (spec: TokenSpec) => string | undefined;
  readonly addresses: PodAddresses;
  readonly allocatable: ResourceList;
};

const defaultFileMode = 0o644;
/** Only the owner may read tokens if all containers run as one user. */
const tokenMode = 0o600;

/** Undefined for volumes of other kinds. */
export function volumeFiles(volume: Volume, sources: VolumeSources): VolumeResult | undefined {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) {
    return project([{ configMap }], configMap.defaultMode, sources);
  }
  if (secret !== undefined) {
    const { secretName: name, defaultMode, ...rest } = secret;
    const named = { ...rest, ...(name === undefined ? {} : { name }) };
    return project([{ secret: named }], defaultMode, sources);
  }
  if (downwardAPI !== undefined)
    return project([{ downwardAPI }], downwardAPI.defaultMode, sources);
  if (projected !== undefined) {
    return project(projected.sources ?? [], projected.defaultMode, sources);
  }
  return undefined;
}

export function tokenSpecs(volume: Volume): readonly TokenSpec[] {
  return (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken: spec }) =>
    spec === undefined ? [] : [spec],
  );
}

function project(
  projections: readonly VolumeProjection[],
  mode = defaultFileMode,
  sources: VolumeSources,
): VolumeResult {
  const files: Record<string, VolumeFile> = {};
  for (const projection of projections) {
    const result = projectOne(projection, mode, sources);
    if ('problem' in result) return result;
    Object.assign(files, result.files);
  }
  return { files };
}

function projectOne(
  { configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection,
  mode: number,
  sources: VolumeSources,
): VolumeResult {
  if (configMap !== undefined) {
    const object = sources.configMap(configMap.name ?? '');
    return fromKeys(
      configMap,
      { kind: 'configmap', mode, entries: object && configMapBytes(object) },
      sources,
    );
  }
  if (secret !== undefined) {
    const object = sources.secret(secret.name ?? '');
    return fromKeys(
      secret,
      { kind: 'secret', mode, entries: object && secretBytes(object) },
      sources,
    );
  }
  if (downwardAPI !== undefined) return fromPod(downwardAPI.items ?? [], mode, sources);
  if (serviceAccountToken !== undefined) {
    const token = sources.token(serviceAccountToken);
    if (token === undefined)
      return { problem: 'failed to fetch token: it has not been issued yet' };
    const { path } = serviceAccountToken;
    const isForOne = volumeOwner(sources.pod).uid !== undefined;
    return { files: { [path]: { bytes: Buffer.from(token), mode: isForOne ? tokenMode : mode } } };
  }
  return { problem: 'unsupported source of a projected volume' };
}

type KeyReference = {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
};
type KeySource = {
  readonly kind: 'configmap' | 'secret';
  readonly mode: number;
  readonly entries: Readonly<Record<string, Uint8Array>> | undefined;
};

function fromKeys(
  { name = '', items = [], optional = false }: KeyReference,
  { kind, mode, entries }: KeySource,
  { pod }: VolumeSources,
): VolumeResult {
  if (entries === undefined) {
    const problem = `${kind} ${JSON.stringify(name)} not found`;
    return optional ? { files: {} } : { problem };
  }
  const wanted: readonly KeyToPath[] =
    items.length > 0 ? items : Object.keys(entries).map((key) => ({ key, path: key }));
  const files: Record<string, VolumeFile> = {};
  for (const { key, path, mode: own } of wanted) {
    const bytes = Object.hasOwn(entries, key) ? entries[key] : undefined;
    if (bytes !== undefined) files[path] = { bytes, mode: own ?? mode };
    else if (!optional) {
      const where = `${kind} ${pod.metadata.namespace}/${name}`;
      return {
        problem: `references non-existent ${kind === 'secret' ? 'secret' : 'config'} key: ${key} in ${where}`,
      };
    }
  }
  return { files };
}

function fromPod(
  items: readonly DownwardFile[],
  mode: number,
  sources: VolumeSources,
): VolumeResult {
  const files: Record<string, VolumeFile> = {};
  for (const { path, fieldRef, resourceFieldRef, mode: own } of items) {
    const value =
      fieldRef !== undefined
        ? podField(fieldRef.fieldPath, sources.pod, sources.addresses)
        : resourceFieldRef && quantityOf(resourceFieldRef, sources);
    if (value === undefined) return { problem: `unsupported field for ${path}` };
    files[path] = { bytes: Buffer.from(value), mode: own ?? mode };
  }
  return { files };
}

function quantityOf(
  selector: NonNullable<DownwardFile['resourceFieldRef']>,
  { pod, allocatable }: VolumeSources,
): string | undefined {
  const container = allContainers(pod).find(({ name }) => name === selector.containerName);
  return container && resourceField(selector, container, allocatable);
}

function configMapBytes({ data = {}, binaryData = {} }: ConfigMap): Record<string, Uint8Array> {
  const texts = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const);
  return { ...Object.fromEntries(texts), ...decoded(binaryData) };
}

const secretBytes = ({ data = {} }: Secret): Record<string, Uint8Array> => decoded(data);

function decoded(data: Readonly<Record<string, string>>): Record<string, Uint8Array> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]),
  );
}
