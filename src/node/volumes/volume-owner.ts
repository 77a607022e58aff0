// To whom the volumes of a pod belong.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type VolumeOwner = {
  /** The user that all containers are; absent: they are not one. */
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

/** With a group: what the owner may, it may too, and new files are the group's. Read-only volumes are read, others written. */
export function groupMode(
  mode: number,
  { isDirectory, isReadOnly }: { readonly isDirectory: boolean; readonly isReadOnly: boolean },
): number {
  const access = isReadOnly ? 0o440 : 0o660;
  return mode | access | (isDirectory ? 0o2110 : 0);
}
