// The lists of a pod that name containers. Names are unique among all of them.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers';

const lists: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers'];

/** Ephemeral ones, which `kubectl debug` adds to a pod that runs, are last. */
export function allContainers({ spec }: Pod): readonly Container[] {
  return lists.flatMap((list): readonly Container[] => spec[list] ?? []);
}

export function listOf({ spec }: Pod, name: string): ContainerList {
  const found = lists.find((list) => (spec[list] ?? []).some((one) => one.name === name));
  return found ?? 'containers';
}

/** As metrics of a kubelet call them. */
export const containerTypes: Readonly<Record<ContainerList, string>> = {
  initContainers: 'init_container',
  containers: 'container',
  ephemeralContainers: 'ephemeral_container',
};
