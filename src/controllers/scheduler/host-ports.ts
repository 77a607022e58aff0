import type { ContainerPort } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';

/** Whether a port of the host that the pod wants is taken by one of the pods there. */
export function hasPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPortsOf);
  return wanted.some((port) => taken.some((other) => conflict(port, other)));
}

function hostPortsOf({ spec }: Pod): readonly ContainerPort[] {
  const sidecars = (spec.initContainers ?? []).filter(isRestartableInitContainer);
  return [...(spec.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

function conflict(a: ContainerPort, b: ContainerPort): boolean {
  const isSamePort = a.hostPort === b.hostPort && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP');
  return isSamePort && (isAny(a.hostIP) || isAny(b.hostIP) || a.hostIP === b.hostIP);
}

const isAny = (address: string | undefined): boolean =>
  !address || address === '0.0.0.0' || address === '::';
