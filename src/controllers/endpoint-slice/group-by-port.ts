// Groups the pods of a Service by their port numbers, because all endpoints of a slice share one list of ports.
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
  // Without named target ports all pods have the same numbers.
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

/** Named target ports that the pod does not define are left out; the pod stays. */
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
