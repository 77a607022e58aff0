// The volumes that claims are bound to, on this node: directories that the agent makes itself, and paths of the node.
import { chmodSync, constants, existsSync, mkdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiCaller } from '../../client/api-call.ts';
import { resourceClient } from '../../client/rest.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { isLocalDirectory, isOnNode } from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { claimOfVolume } from '../../kinds/pod/claim-index.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Volume } from '../../kinds/pod/volume.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { controllerOf } from '../../meta/owner.ts';
import { groupMode } from './volume-owner.ts';
import { changeOwner } from './write-volume-files.ts';

export type ClaimedVolume =
  | { readonly directory: string }
  /** Of the node: checked and mounted as one. */
  | { readonly hostPath: NonNullable<Volume['hostPath']> }
  | { readonly problem: string };

export type ClaimVolumes = {
  /** The volume of a claim, or of an ephemeral volume; undefined for other volumes. */
  readonly find: (
    pod: Pod,
    volume: Volume,
    gid: number | undefined,
  ) => Promise<ClaimedVolume | undefined>;
};

export type ClaimOptions = {
  readonly caller: ApiCaller;
  readonly node: string;
  readonly dataDirectory: string;
};

/** Where the agent puts the directories of volumes. Nothing else is ever made or deleted for them. */
export const volumesDirectory = (dataDirectory: string): string =>
  join(dataDirectory, 'persistent-volumes');

export function createClaimVolumes({ caller, node, dataDirectory }: ClaimOptions): ClaimVolumes {
  const claims = resourceClient(caller, persistentVolumeClaimDefinition);
  const volumes = resourceClient(caller, persistentVolumeDefinition);
  return {
    async find(pod, volume, gid) {
      const { name: podName = '', namespace = '' } = pod.metadata;
      const name = claimOfVolume(podName, volume);
      if (name === undefined) return undefined;
      const problem = (why: string): ClaimedVolume => ({
        problem: `error processing PVC ${namespace}/${name}: ${why}`,
      });
      try {
        const claim = await claims.get({ namespace, name });
        const unusable = claimProblem(claim, volume, pod);
        if (unusable !== undefined) return problem(unusable);
        const bound = await volumes.get({ name: claim.spec.volumeName ?? '' });
        if (bound.spec.claimRef?.uid !== claim.metadata.uid)
          return problem(
            `PV ${bound.metadata.name ?? ''} is not bound to the claim: its claimRef names another one`,
          );
        return await openVolume(bound, { node, dataDirectory, gid });
      } catch (error) {
        return problem(
          `failed to fetch PVC from API server: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
  };
}

function claimProblem(
  claim: PersistentVolumeClaim,
  { ephemeral }: Volume,
  pod: Pod,
): string | undefined {
  if (ephemeral !== undefined && controllerOf(claim)?.uid !== pod.metadata.uid)
    return 'PVC was not created for the pod (pod is not owner)';
  if (claim.metadata.deletionTimestamp !== undefined) return 'PVC is being deleted';
  return claim.status.phase === 'Bound' && claim.spec.volumeName ? undefined : 'PVC is not bound';
}

type OpenOptions = Omit<ClaimOptions, 'caller'> & { readonly gid: number | undefined };

async function openVolume(
  volume: PersistentVolume,
  { node, dataDirectory, gid }: OpenOptions,
): Promise<ClaimedVolume> {
  const { spec } = volume;
  if (spec.volumeMode === 'Block') return { problem: 'volumes of mode Block are not supported' };
  if (isLocalDirectory(volume)) {
    if (!isOnNode(volume, node)) return { problem: 'the volume is a directory of another node' };
    const directory = directoryOf(volume, dataDirectory);
    await makeDirectory(directory, gid);
    return { directory };
  }
  if (spec.hostPath !== undefined) return { hostPath: spec.hostPath };
  if (spec.local === undefined) return { problem: 'unsupported volume type' };
  return { hostPath: { path: spec.local.path, type: 'Directory' } };
}

/** By the name of the object alone, whatever path it has: a name has neither slashes nor steps back. */
export function directoryOf({ metadata }: PersistentVolume, dataDirectory: string): string {
  const { name = '' } = metadata;
  if (dns1123Subdomain(name).length > 0)
    throw new Error(`Cannot use the volume ${JSON.stringify(name)}: its name is no file name`);
  return join(volumesDirectory(dataDirectory), name);
}

/** Complete under its name, or not there: the agent may be killed at any time. */
async function makeDirectory(path: string, gid: number | undefined): Promise<void> {
  if (!existsSync(path)) {
    const unfinished = join(path, '..', `.new-${path.slice(path.lastIndexOf('/') + 1)}`);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    await removeTree(unfinished);
    mkdirSync(unfinished, { mode: 0o700 });
    // As an emptyDir: pods run as any user.
    chmodSync(unfinished, 0o777);
    renameSync(unfinished, path);
  }
  if (gid === undefined) return;
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const directory = await open(path, flags);
  try {
    await changeOwner(directory, undefined, gid);
    await directory.chmod(groupMode(0o777, { isDirectory: true, isReadOnly: false }));
  } finally {
    await directory.close();
  }
}
