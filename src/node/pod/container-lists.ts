// The lists of a pod that name containers. Names are unique among all of them.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers';

const lists: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers'];

/** Ephemeral containers, which `kubectl debug` adds to a running pod, are last. */
export function allContainers({ spec }: Pod): readonly Container[] {
  return lists.flatMap((list): readonly Container[] => spec[list] ?? []);
}

export function listOf({ spec }: Pod, name: string): ContainerList {
  const found = lists.find((list) => (spec[list] ?? []).some((one) => one.name === name));
  return found ?? 'containers';
}

/** The kubelet's values of the label container_type. */
export const containerTypes: Readonly<Record<ContainerList, string>> = {
  initContainers: 'init_container',
  containers: 'container',
  ephemeralContainers: 'ephemeral_container',
};
