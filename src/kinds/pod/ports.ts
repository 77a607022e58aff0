// Resolves named container ports.
import type { Container, ContainerPort } from './container.ts';
import type { PodSpec } from './pod-spec.ts';

type HasContainers = { readonly spec: Pick<PodSpec, 'containers' | 'initContainers'> };

/** A sidecar: an init container that keeps running. */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** The containers and the sidecars. */
function servingContainers(pod: HasContainers): readonly Container[] {
  const sidecars = pod.spec.initContainers?.filter(isRestartableInitContainer) ?? [];
  return [...(pod.spec.containers ?? []), ...sidecars];
}

/** The first port with this name and protocol, default TCP. */
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

/** The first container that has the port in its spec. Its program may listen elsewhere, and on ports that no spec has. */
export function findListeningContainer(
  pod: HasContainers,
  number: number,
  protocol: string,
): Container | undefined {
  return servingContainers(pod).find(({ ports }) =>
    (ports ?? []).some(
      (port) => port.containerPort === number && (port.protocol || 'TCP') === protocol,
    ),
  );
}
