// What a pod says it listens on: the ports of its containers and sidecars. Nothing in Kubernetes holds a container to it.

import type { Container } from '../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../kinds/pod/ports.ts';
import type { Pod } from '../kinds/pod/types.ts';

export type DeclaredPort = {
  readonly container: string;
  readonly name?: string;
  readonly number: number;
  readonly protocol: string;
};

/** Those that run as long as the pod. */
export function servingContainers({ spec }: Pick<Pod, 'spec'>): readonly Container[] {
  const sidecars = spec.initContainers?.filter(isRestartableInitContainer) ?? [];
  return [...(spec.containers ?? []), ...sidecars];
}

export function containerPortsOf(pod: Pick<Pod, 'spec'>): readonly DeclaredPort[] {
  return servingContainers(pod).flatMap(({ name: container = '', ports = [] }) =>
    ports.map(({ name, containerPort, protocol }) => ({
      container,
      ...(name ? { name } : {}),
      number: containerPort ?? 0,
      protocol: protocol || 'TCP',
    })),
  );
}

/** `http (8080/TCP)`, or `8080/TCP` without a name. */
export function portText({ name, number, protocol }: DeclaredPort): string {
  return name === undefined ? `${number}/${protocol}` : `${name} (${number}/${protocol})`;
}
