// Sorts the pods of a Service into groups that have the same ports, because a slice has one list of ports for all
// of its endpoints.
import { orderedPorts, portSetKey } from '../../kinds/endpoint-slice/port-set.ts';
import type { SlicePort } from '../../kinds/endpoint-slice/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { targetPortNumber } from '../../kinds/service/backends.ts';
import type { Service } from '../../kinds/service/types.ts';

export type PortGroup = {
  readonly ports: readonly SlicePort[];
  readonly pods: readonly Pod[];
};

export function groupByPort(
  service: Service,
  pods: readonly Pod[],
): ReadonlyMap<string, PortGroup> {
  const groups = new Map<string, { ports: readonly SlicePort[]; pods: Pod[] }>();
  // Where no port is named, all pods have the same ones.
  const fixed = hasNamedTarget(service) ? undefined : keyed(podPorts(service, undefined));
  for (const pod of pods) {
    const { key, ports } = fixed ?? keyed(podPorts(service, pod));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ports: orderedPorts(ports), pods: [pod] });
    else group.pods.push(pod);
  }
  return groups;
}

const keyed = (ports: readonly SlicePort[]) => ({ key: portSetKey(ports), ports });

function hasNamedTarget({ spec }: Service): boolean {
  return spec.ports?.some(({ targetPort }) => typeof targetPort === 'string') ?? false;
}

/** The ports that the pod has; those whose name it lacks are left out, the pod stays in. */
function podPorts({ spec }: Service, pod: Pod | undefined): readonly SlicePort[] {
  return (spec.ports ?? []).flatMap((port) => {
    const number =
      typeof port.targetPort === 'number'
        ? port.targetPort
        : pod === undefined
          ? undefined
          : targetPortNumber(pod, port);
    if (number === undefined) return [];
    return [
      {
        name: port.name ?? '',
        protocol: port.protocol ?? 'TCP',
        port: number,
        ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
      },
    ];
  });
}
