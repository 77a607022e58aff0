// Makes the volumes of a pod, and keeps those fresh that are made from API objects.
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { callApi } from '../client/api-call.ts';
import { referencedObjects } from '../kinds/pod/referenced-objects.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Volume } from '../kinds/pod/volume.ts';
import { parseTime } from '../schema/time.ts';
import { applyVolumeFiles } from './apply-volume-files.ts';
import type { NodeParts } from './node-parts.ts';
import { type TokenWish, tokenWishes, type VolumeSources, volumeFiles } from './volume-files.ts';

export type PodVolumes = {
  /** Makes what is missing and renews what has changed. Throws VolumeError for the first that cannot be. */
  readonly prepare: (pod: Pod, podIPs: readonly string[]) => Promise<void>;
  /** Where the volume is on the host. */
  readonly path: (name: string) => string | undefined;
};

export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}

/** A token is replaced when so much of its life has passed. */
const renewAfter = 0.8;

type Token = { readonly text: string; readonly renewAt: number };

export function createPodVolumes(parts: NodeParts, directory: string): PodVolumes {
  const tokens = new Map<string, Token>();
  const paths = new Map<string, string>();
  return {
    async prepare(pod, podIPs) {
      for (const volume of pod.spec.volumes ?? []) {
        for (const wish of tokenWishes(volume)) await renew(parts, pod, wish, tokens);
      }
      const sources = await readSources({ parts, pod, podIPs, tokens });
      for (const volume of pod.spec.volumes ?? []) {
        paths.set(volume.name, await make(volume, sources, directory));
      }
    },
    path: (name) => paths.get(name),
  };
}

type Reading = {
  readonly parts: NodeParts;
  readonly pod: Pod;
  readonly podIPs: readonly string[];
  readonly tokens: ReadonlyMap<string, Token>;
};

async function readSources({ parts, pod, podIPs, tokens }: Reading): Promise<VolumeSources> {
  const objects = await readObjects(parts, pod);
  return {
    pod,
    ...objects,
    token: (wish) => tokens.get(tokenKey(wish))?.text,
    addresses: { podIPs, hostIPs: parts.nodeIPs },
    allocatable: parts.allocatable,
  };
}

/** What the pod names, as it is now. */
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

async function make(volume: Volume, sources: VolumeSources, directory: string): Promise<string> {
  const { name, emptyDir, hostPath } = volume;
  const failed = (why: string): VolumeError =>
    new VolumeError(`MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${why}`);
  if (hostPath !== undefined) {
    const problem = hostPathProblem(hostPath.path, hostPath.type ?? '');
    if (problem !== undefined) throw failed(problem);
    return hostPath.path;
  }
  if (emptyDir !== undefined) {
    const path = join(directory, 'kubernetes.io~empty-dir', name);
    if (!existsSync(path)) {
      mkdirSync(path, { recursive: true });
      chmodSync(path, 0o777);
    }
    return path;
  }
  const formed = volumeFiles(volume, sources);
  if (formed === undefined) throw failed('this node does not know volumes of its kind');
  if ('problem' in formed) throw failed(formed.problem);
  const path = join(directory, 'kubernetes.io~projected', name);
  await applyVolumeFiles(path, formed.files);
  return path;
}

/** Makes what is to be made; what is wrong otherwise. */
function hostPathProblem(path: string, type: string): string | undefined {
  if (type === 'DirectoryOrCreate') mkdirSync(path, { recursive: true, mode: 0o755 });
  if (type === 'FileOrCreate' && !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
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

const tokenKey = ({ audience = '', path }: TokenWish): string => `${audience} ${path}`;

async function renew(
  { caller, clock }: NodeParts,
  { metadata, spec }: Pod,
  wish: TokenWish,
  tokens: Map<string, Token>,
): Promise<void> {
  const known = tokens.get(tokenKey(wish));
  const now = clock.now();
  if (known !== undefined && now < known.renewAt) return;
  const { name = '', namespace = '', uid = '' } = metadata;
  const account = spec.serviceAccountName || 'default';
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      ...(wish.audience ? { audiences: [wish.audience] } : {}),
      expirationSeconds: wish.expirationSeconds ?? 3600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const answer = (await callApi(caller, { method: 'POST', path, body })) as TokenAnswer;
  const until = parseTime(answer.status.expirationTimestamp) ?? now;
  const renewAt = now + (until - now) * renewAfter;
  tokens.set(tokenKey(wish), { text: answer.status.token, renewAt });
}

type TokenAnswer = {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
};
