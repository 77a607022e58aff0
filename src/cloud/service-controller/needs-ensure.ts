// Which changes of a Service concern its balancer (LBC-09).
import type { Service } from '../../kinds/service/types.ts';
import { deepEqual } from '../../schema/equality.ts';

/** Everything of a Service that a balancer is made from; labels and selectors are not part of it. */
function balancerInputs({ metadata, spec }: Service) {
  return {
    uid: metadata.uid,
    isGoing: metadata.deletionTimestamp !== undefined,
    annotations: metadata.annotations ?? {},
    type: spec.type,
    loadBalancerClass: spec.loadBalancerClass,
    loadBalancerSourceRanges: spec.loadBalancerSourceRanges ?? [],
    loadBalancerIP: spec.loadBalancerIP ?? '',
    allocatesNodePorts: spec.allocateLoadBalancerNodePorts ?? true,
    externalIPs: spec.externalIPs ?? [],
    externalTrafficPolicy: spec.externalTrafficPolicy,
    healthCheckNodePort: spec.healthCheckNodePort ?? 0,
    sessionAffinity: spec.sessionAffinity,
    sessionAffinityConfig: spec.sessionAffinityConfig,
    families: (spec.ipFamilies ?? []).length,
    ports: (spec.ports ?? []).map(
      ({ name, protocol, port, nodePort, targetPort, appProtocol }) => ({
        ...{ name: name ?? '', protocol, port, nodePort, targetPort, appProtocol },
      }),
    ),
  };
}

export function needsEnsure(before: Service | undefined, after: Service): boolean {
  return before === undefined || !deepEqual(balancerInputs(before), balancerInputs(after));
}
