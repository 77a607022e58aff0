// Whether a change of a Service affects its load balancer (LBC-09).
import type { Service } from '../../kinds/service/types.ts';
import { deepEqual } from '../../schema/equality.ts';

/** All fields that a load balancer depends on; labels and selectors are not among them. */
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
