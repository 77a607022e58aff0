// The owner of a pod's volumes.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type VolumeOwner = {
  /** The user of all containers; absent: they differ. */
  readonly uid?: number;
  /** fsGroup. */
  readonly gid?: number;
};

export function volumeOwner({ spec }: Pod): VolumeOwner {
  const { runAsUser, fsGroup } = spec.securityContext ?? {};
  const containers: readonly Container[] = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
  ];
  const users = new Set(
    containers.map(({ securityContext }) => Number(securityContext?.runAsUser ?? runAsUser ?? 0)),
  );
  const [uid] = users;
  return {
    ...(users.size === 1 && uid !== undefined ? { uid } : {}),
    ...(fsGroup === undefined ? {} : { gid: Number(fsGroup) }),
  };
}

/** Mode with fsGroup: the group may read, and write unless the volume is read-only; new files in directories belong to the group. */
export function groupMode(
  mode: number,
  { isDirectory, isReadOnly }: { readonly isDirectory: boolean; readonly isReadOnly: boolean },
): number {
  const access = isReadOnly ? 0o440 : 0o660;
  return mode | access | (isDirectory ? 0o2110 : 0);
}
