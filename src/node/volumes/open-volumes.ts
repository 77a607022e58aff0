// Opens paths that a pod can change, by descriptor: links or pipes that the pod creates meanwhile cannot lead the agent astray.
import { constants, existsSync, fstatSync, readlinkSync, readSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { closeDescriptor } from '../../host/native.ts';
import { makeBeneath, openBeneath, openPath, pathOnly } from '../../host/open-beneath.ts';
import { SystemCallError } from '../../host/system-call-error.ts';
import type { UnpackedImage } from '../../images/image-store.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { trimEnd } from '../../meta/trim-end.ts';
import { expandPath } from '../environment/expand-variables.ts';
import type { Variables } from '../environment/service-variables.ts';
import { ContainerConfigError, type MaskedPath, type Mount } from '../runtimes/runtime.ts';
import type { PodVolumes } from './run-volumes.ts';
import { volumeOwner } from './volume-owner.ts';

export type VolumesToOpen = {
  readonly pod: Pod;
  readonly container: Container;
  readonly volumes: PodVolumes;
  readonly variables: Variables;
  /** Of volumes that are images, by name. */
  readonly images: ReadonlyMap<string, { readonly unpacked: UnpackedImage }>;
  /** Paths masked from pods. */
  readonly privatePaths: readonly string[];
};

/** The mount path of the default service account token. */
const accountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Mounts with open descriptors, for closeVolumes(). Throws ContainerConfigError, and has then closed what it opened. */
export function openVolumes(toOpen: VolumesToOpen): readonly Mount[] {
  const opened: Mount[] = [];
  try {
    for (const mount of toOpen.container.volumeMounts ?? []) opened.push(openOne(toOpen, mount));
    return opened;
  } catch (error) {
    closeVolumes(opened);
    throw error;
  }
}

export function closeVolumes(mounts: readonly Mount[]): void {
  for (const { descriptor } of mounts) if (descriptor !== undefined) closeDescriptor(descriptor);
}

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

function openOne(toOpen: VolumesToOpen, mount: VolumeMount): Mount {
  const { pod, container, volumes, variables, privatePaths, images } = toOpen;
  const image = images.get(mount.name);
  if (image !== undefined) return imageMount(mount, image.unpacked, variables);
  const source = volumes.path(mount.name);
  if (source === undefined) {
    throw new ContainerConfigError(
      `cannot find volume ${JSON.stringify(mount.name)} to mount into container ${JSON.stringify(container.name)}`,
    );
  }
  const below = subPathOf(mount, variables);
  const isWritable = isWritableVolume(pod, mount.name);
  const { gid } = volumeOwner(pod);
  const descriptor = openVolume(mount, container, {
    ...{ source, below, isWritable },
    ...(gid === undefined ? {} : { gid }),
  });
  const masked = maskedBelow(descriptor, privatePaths, volumes.isHostPath(mount.name));
  return {
    source: readlinkSync(`/proc/self/fd/${descriptor}`),
    descriptor,
    path: trimEnd(mount.mountPath, '/') || '/',
    isReadOnly: mount.readOnly === true || !isWritable,
    ...(masked.length === 0 ? {} : { masked }),
    ...(mount.mountPath === accountPath ? { isOptional: true } : {}),
  };
}

function imageMount(mount: VolumeMount, image: UnpackedImage, variables: Variables): Mount {
  const imagePath = subPathOf(mount, variables);
  return {
    ...{ source: '', path: trimEnd(mount.mountPath, '/') || '/', isReadOnly: true, image },
    ...(imagePath === '' ? {} : { imagePath }),
  };
}

/** Errors have the kubelet's messages: only here subPathExpr is expanded. Upstream: kubelet_pods.go, makeMounts. */
function subPathOf({ subPath = '', subPathExpr }: VolumeMount, variables: Variables): string {
  const expanded = subPathExpr ? expandPath(subPathExpr, variables) : { path: subPath };
  if ('missing' in expanded)
    throw new ContainerConfigError(`missing value for ${expanded.missing.join(', ')}`);
  const { path } = expanded;
  if (path.startsWith('/'))
    throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..'))
    throw new ContainerConfigError(
      `unable to provision SubPath \`${path}\`: must not contain '..'`,
    );
  return path;
}

type VolumePath = {
  readonly source: string;
  readonly below: string;
  readonly isWritable: boolean;
  readonly gid?: number;
};

function openVolume(
  { name }: VolumeMount,
  container: Container,
  { source, below, isWritable, gid }: VolumePath,
): number {
  const volume = openPath(source);
  if (below === '') return volume;
  try {
    return openBelow(volume, below, isWritable, gid);
  } catch (error) {
    if (!(error instanceof SystemCallError)) throw error;
    throw new ContainerConfigError(
      `failed to prepare subPath for volumeMount ${JSON.stringify(name)} of container ${JSON.stringify(container.name)}: ${below}: ${error.code}`,
    );
  } finally {
    closeDescriptor(volume);
  }
}

/** Follows links inside the volume, which ConfigMaps need; none leads out of it, and nothing is created behind one. */
function openBelow(
  volume: number,
  below: string,
  isWritable: boolean,
  gid: number | undefined,
): number {
  try {
    return openBeneath(volume, below, { flags: pathOnly, followsLinks: true });
  } catch (error) {
    const isMissing = error instanceof SystemCallError && error.code === 'ENOENT';
    if (!isMissing || !isWritable) throw error;
    const mode = fstatSync(volume).mode & 0o7777;
    closeDescriptor(makeBeneath(volume, below, { mode, ...(gid === undefined ? {} : { gid }) }));
    return openBeneath(volume, below, { flags: pathOnly });
  }
}

/** Volumes from API objects are read-only, and claims that the pod wants so. */
function isWritableVolume({ spec }: Pod, name: string): boolean {
  const volume = spec.volumes?.find((one) => one.name === name);
  const { emptyDir, hostPath, ephemeral, persistentVolumeClaim: claim } = volume ?? {};
  const isOwn = emptyDir !== undefined || hostPath !== undefined || ephemeral !== undefined;
  return isOwn || (claim !== undefined && claim.readOnly !== true);
}

/** Private paths below a hostPath are masked; a hostPath inside a private path is refused. */
function maskedBelow(
  descriptor: number,
  privatePaths: readonly string[],
  isHostPath: boolean,
): readonly MaskedPath[] {
  if (!isHostPath) return [];
  const real = readlinkSync(`/proc/self/fd/${descriptor}`);
  if (privatePaths.some((own) => isAtOrBelow(real, own))) {
    closeDescriptor(descriptor);
    throw new ContainerConfigError(
      `hostPath ${real} belongs to the node agent and cannot be mounted`,
    );
  }
  return privatePaths
    .filter((own) => isAtOrBelow(own, real) && existsSync(own))
    .map((own) => ({ path: relative(real, own), isDirectory: statSync(own).isDirectory() }));
}

const isAtOrBelow = (path: string, top: string): boolean =>
  path === top || path.startsWith(top === '/' ? '/' : `${top}/`);

/** File name in the directory of a container's run. */
export const terminationMessageName = 'termination-log';
/** Limit of the kubelet. */
const maxTerminationMessageBytes = 4096;

/** The end of the termination message file; empty if it is not a regular file. */
export function readTerminationMessage(
  podDirectory: string,
  container: string,
  attempt: number,
): string {
  const directory = join(podDirectory, 'containers', container, String(attempt));
  if (!existsSync(directory)) return '';
  const above = openPath(directory);
  try {
    // A pipe would make us wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    const file = openBeneath(above, terminationMessageName, { flags });
    try {
      return readEnd(file);
    } finally {
      closeDescriptor(file);
    }
  } catch (error) {
    if (error instanceof SystemCallError) return '';
    throw error;
  } finally {
    closeDescriptor(above);
  }
}

function readEnd(file: number): string {
  const stat = fstatSync(file);
  if (!stat.isFile()) return '';
  const bytes = Buffer.alloc(maxTerminationMessageBytes);
  const start = Math.max(stat.size - bytes.length, 0);
  const length = readSync(file, bytes, 0, bytes.length, start);
  return bytes.toString('utf8', 0, length);
}
