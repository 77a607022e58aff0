// Finds the number behind the name of a container port.
import type { Container, ContainerPort } from './container.ts';
import type { PodSpec } from './pod-spec.ts';

type HasContainers = { readonly spec: Pick<PodSpec, 'containers' | 'initContainers'> };

/** An init container that keeps running beside the containers. */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Containers that run for as long as the pod: its containers, then its sidecars. */
function servingContainers(pod: HasContainers): readonly Container[] {
  const sidecars = pod.spec.initContainers?.filter(isRestartableInitContainer) ?? [];
  return [...(pod.spec.containers ?? []), ...sidecars];
}

/** The first port of that name and protocol; TCP where the port names none. */
export function findContainerPort(
  pod: HasContainers,
  name: string,
  protocol: string,
): ContainerPort | undefined {
  for (const container of servingContainers(pod)) {
    const found = container.ports?.find(
      (port) => port.name === name && (port.protocol || 'TCP') === protocol,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}
