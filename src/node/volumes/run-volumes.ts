// Creates the volumes of a pod, and refreshes those from API objects.
import {
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { callApi } from '../../client/api-call.ts';
import { diskUsage } from '../../host/disk-usage.ts';
import { mountMemory, unmountMemory } from '../../host/mounts.ts';
import { NativeUnavailableError } from '../../host/native.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { SystemCallError } from '../../host/system-call-error.ts';
import { referencedObjects } from '../../kinds/pod/referenced-objects.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Volume } from '../../kinds/pod/volume.ts';
import type { Log } from '../../observe/log.ts';
import { parseTime } from '../../schema/time.ts';
import type { NodeParts } from '../node-parts.ts';
import { sharedMemoryOptions } from '../runtimes/sandbox/system-steps.ts';
import { memoryVolumeBytes } from './memory-volume-size.ts';
import { storageLimits } from './storage-limits.ts';
import { type TokenSpec, tokenSpecs, type VolumeSources, volumeFiles } from './volume-files.ts';
import { groupMode, type VolumeOwner, volumeOwner } from './volume-owner.ts';
import { changeOwner, writeVolumeFiles } from './write-volume-files.ts';

export type PodVolumes = {
  /** Creates missing volumes and updates changed ones. Throws VolumeError for the first that fails. */
  readonly prepare: (pod: Pod, podIPs: readonly string[]) => Promise<void>;
  /** Path of the volume on the host. */
  readonly path: (name: string) => string | undefined;
  /** Whether it is a path of the node. */
  readonly isHostPath: (name: string) => boolean;
};

export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}

/** Share of a token's lifetime after which it is renewed. */
const renewAfter = 0.8;

type Token = { readonly text: string; readonly renewAt: number };

export function createPodVolumes(parts: NodeParts, directory: string): PodVolumes {
  const tokens = new Map<string, Token>();
  const paths = new Map<string, string>();
  const hostPaths = new Set<string>();
  const claimed = new Set<string>();
  const prepareOne = async (volume: Volume, sources: VolumeSources): Promise<void> => {
    // Looked for once: what happens to the claim later does not concern a pod that runs.
    if (claimed.has(volume.name)) return;
    const { pod } = sources;
    const found = await parts.claims.find(pod, volume, volumeOwner(pod).gid);
    if (found !== undefined && 'problem' in found) throw mountFailure(volume, found.problem);
    const made = found === undefined || 'directory' in found ? volume : { ...volume, ...found };
    if (made.hostPath !== undefined) hostPaths.add(volume.name);
    const path =
      found !== undefined && 'directory' in found
        ? found.directory
        : await makeVolume(made, sources, { parts, directory });
    paths.set(volume.name, path);
    if (found !== undefined) claimed.add(volume.name);
  };
  return {
    async prepare(pod, podIPs) {
      for (const volume of pod.spec.volumes ?? []) {
        for (const spec of tokenSpecs(volume)) await renewToken(parts, pod, spec, tokens);
      }
      const sources = await readSources({ parts, pod, podIPs, tokens });
      for (const volume of pod.spec.volumes ?? []) {
        // Images are unpacked with the containers that mount them.
        if (volume.image === undefined) await prepareOne(volume, sources);
      }
    },
    path: (name) => paths.get(name),
    isHostPath: (name) => hostPaths.has(name),
  };
}

type SourceOptions = {
  readonly parts: NodeParts;
  readonly pod: Pod;
  readonly podIPs: readonly string[];
  readonly tokens: ReadonlyMap<string, Token>;
};

async function readSources({ parts, pod, podIPs, tokens }: SourceOptions): Promise<VolumeSources> {
  const objects = await readObjects(parts, pod);
  return {
    pod,
    ...objects,
    token: (spec) => tokens.get(tokenKey(spec))?.text,
    addresses: { podIPs, hostIPs: parts.nodeIPs },
    allocatable: parts.allocatable,
  };
}

/** The ConfigMaps and Secrets that the pod references. */
export async function readObjects(
  { readConfigMap, readSecret }: NodeParts,
  pod: Pod,
): Promise<Pick<VolumeSources, 'configMap' | 'secret'>> {
  const namespace = pod.metadata.namespace ?? '';
  const { configMaps, secrets } = referencedObjects(pod);
  const read = async <T>(
    names: ReadonlySet<string>,
    one: (n: string, name: string) => Promise<T>,
  ) =>
    new Map(
      await Promise.all(
        [...names].map(async (name) => [name, await one(namespace, name)] as const),
      ),
    );
  const [maps, hidden] = await Promise.all([
    read(configMaps, readConfigMap),
    read(secrets, readSecret),
  ]);
  return { configMap: (name) => maps.get(name), secret: (name) => hidden.get(name) };
}

const mountFailure = ({ name }: Volume, why: string): VolumeError =>
  new VolumeError(`MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${why}`);

type VolumeContext = { readonly parts: NodeParts; readonly directory: string };

async function makeVolume(
  volume: Volume,
  sources: VolumeSources,
  context: VolumeContext,
): Promise<string> {
  const { name, emptyDir, hostPath } = volume;
  const failed = (why: string): VolumeError => mountFailure(volume, why);
  const owner = volumeOwner(sources.pod);
  if (hostPath !== undefined) {
    const problem = hostPathProblem(hostPath, context.parts.privatePaths);
    if (problem !== undefined) throw failed(problem);
    return hostPath.path;
  }
  if (emptyDir !== undefined) {
    const path = join(context.directory, emptyDirName, name);
    const { allocatable, log } = context.parts;
    const bytes = memoryVolumeBytes(emptyDir.sizeLimit, sources.pod, allocatable);
    await makeEmptyDir({ path, bytes, isInMemory: emptyDir.medium === 'Memory', log }, owner);
    return path;
  }
  const result = volumeFiles(volume, sources);
  if (result === undefined) throw failed('unsupported volume type');
  if ('problem' in result) throw failed(result.problem);
  const top = join(context.directory, memoryName);
  makeMemory(top, 'mode=700', context.parts.log);
  const path = join(top, name);
  await writeVolumeFiles(path, result.files, owner);
  return path;
}

const emptyDirName = 'kubernetes.io~empty-dir';
/** In memory: Secrets are not written to a disk. */
const memoryName = 'kubernetes.io~projected';

/** Mounts a tmpfs. Without the right to mount it is a directory that only this user can enter. */
function makeMemory(path: string, options: string, log: Log): boolean {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    mountMemory(path, options);
    return true;
  } catch (error) {
    if (!(error instanceof SystemCallError) && !(error instanceof NativeUnavailableError))
      throw error;
    log.debug('Failed to mount tmpfs, volume is on disk', { path, error: error.message });
    return false;
  }
}

const sharedMemoryName = 'shm';

/** The /dev/shm that containers of a pod share; undefined if each must have its own. */
export function makeSharedMemory(podDirectory: string, log: Log): string | undefined {
  const path = join(podDirectory, sharedMemoryName);
  return makeMemory(path, sharedMemoryOptions, log) ? path : undefined;
}

type EmptyDir = {
  readonly path: string;
  readonly isInMemory: boolean;
  /** Size limit of a tmpfs; 0: unknown. */
  readonly bytes: number;
  readonly log: Log;
};

async function makeEmptyDir(
  { path, isInMemory, bytes, log }: EmptyDir,
  { gid }: VolumeOwner,
): Promise<void> {
  // A tmpfs may have been unmounted with the previous run of the agent.
  if (existsSync(path) && !isInMemory) return;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (isInMemory) makeMemory(path, bytes > 0 ? `mode=777,size=${bytes}` : 'mode=777', log);
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await changeOwner(directory, undefined, gid);
    const kind = { isDirectory: true, isReadOnly: false };
    await directory.chmod(gid === undefined ? 0o777 : groupMode(0o777, kind));
  } finally {
    await directory.close();
  }
}

/** At shutdown of the agent: these are mounted again at its next start. */
export function unmountPodMemory(directory: string): void {
  unmountMemory(join(directory, sharedMemoryName));
  unmountMemory(join(directory, 'volumes', memoryName));
}

/** Everything of a pod on disk and in memory. */
export async function removePodFiles(directory: string): Promise<void> {
  await removePodVolumes(directory);
  await removeTree(directory);
}

/** What a pod privatePaths in its volumes, once nothing of it runs any more. */
export async function removePodVolumes(directory: string): Promise<void> {
  unmountPodMemory(directory);
  const volumes = join(directory, 'volumes');
  const empty = join(volumes, emptyDirName);
  for (const name of existsSync(empty) ? readdirSync(empty) : []) unmountMemory(join(empty, name));
  if (existsSync(volumes)) await removeTree(volumes);
}

/** The eviction message for the first storage limit that the pod exceeds. */
export async function exceededStorage(pod: Pod, directory: string): Promise<string | undefined> {
  for (const { volume, bytes, message } of storageLimits(pod)) {
    const path =
      volume === undefined ? directory : join(directory, 'volumes', emptyDirName, volume);
    if ((await diskUsage(path, bytes)) > bytes) return message;
  }
  return undefined;
}

/** Creates the path for the types *OrCreate; returns why it cannot be used. */
function hostPathProblem(
  { path, type = '' }: NonNullable<Volume['hostPath']>,
  privatePaths: readonly string[],
): string | undefined {
  if (isPrivatePath(path, privatePaths))
    return `hostPath ${path} belongs to the node agent and cannot be mounted`;
  if (type === 'DirectoryOrCreate') mkdirSync(path, { recursive: true, mode: 0o755 });
  if (type === 'FileOrCreate' && !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '', { flag: 'wx' });
  }
  const found = existsSync(path) ? statSync(path) : undefined;
  if (found === undefined) return `hostPath type check failed: ${path} does not exist`;
  const fits: Readonly<Record<string, boolean>> = {
    Directory: found.isDirectory(),
    File: found.isFile(),
    Socket: found.isSocket(),
    CharDevice: found.isCharacterDevice(),
    BlockDevice: found.isBlockDevice(),
  };
  return fits[type] === false ? `hostPath type check failed: ${path} is not a ${type}` : undefined;
}

/** Checked before anything is created; links are checked again when it is mounted. */
function isPrivatePath(path: string, privatePaths: readonly string[]): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(at)) {
      const real = join(realpathSync(at), path.slice(at.length));
      return privatePaths.some((own) => real === own || real.startsWith(`${own}/`));
    }
    if (at === dirname(at)) return false;
  }
}

const tokenKey = ({ audience = '', path }: TokenSpec): string => `${audience} ${path}`;

async function renewToken(
  { caller, clock }: NodeParts,
  { metadata, spec }: Pod,
  wanted: TokenSpec,
  tokens: Map<string, Token>,
): Promise<void> {
  const known = tokens.get(tokenKey(wanted));
  const now = clock.now();
  if (known !== undefined && now < known.renewAt) return;
  const { name = '', namespace = '', uid = '' } = metadata;
  const account = spec.serviceAccountName || 'default';
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      ...(wanted.audience ? { audiences: [wanted.audience] } : {}),
      expirationSeconds: wanted.expirationSeconds ?? 3600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const answer = (await callApi(caller, { method: 'POST', path, body })) as TokenAnswer;
  const until = parseTime(answer.status.expirationTimestamp) ?? now;
  const renewAt = now + (until - now) * renewAfter;
  tokens.set(tokenKey(wanted), { text: answer.status.token, renewAt });
}

type TokenAnswer = {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
};
