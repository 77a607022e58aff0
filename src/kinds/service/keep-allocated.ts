// What a write may leave out because the server knows it: allocated values come over from before, and the
// singular and the plural address field follow each other. Runs before anything is allocated.
import { deepEqual } from '../../schema/equality.ts';
import { needsClusterIP, needsHealthCheck, wantsNodePorts } from './needs.ts';
import { type Service, type ServicePort, withSpec } from './types.ts';

/** A new service: an old client gives only `clusterIP`. The reverse is not filled in, and so refused later. */
export function completeCreate(service: Service): Service {
  const { clusterIP, clusterIPs } = service.spec;
  if (clusterIP === undefined || clusterIPs !== undefined) return service;
  return withSpec(service, { clusterIPs: [clusterIP] });
}

export function completeUpdate(before: Service, after: Service): Service {
  return matchClusterIPs(before, keepAllocatedValues(before, after));
}

function keepAllocatedValues(before: Service, after: Service): Service {
  const [old, now] = [before.spec, after.spec];
  const bothAddressed = needsClusterIP(before) && needsClusterIP(after);
  const bothNodePorts = wantsNodePorts(before) && wantsNodePorts(after);
  const bothChecked = needsHealthCheck(before) && needsHealthCheck(after);
  return withSpec(after, {
    ...(bothAddressed
      ? { clusterIP: now.clusterIP ?? old.clusterIP, clusterIPs: now.clusterIPs ?? old.clusterIPs }
      : {}),
    ...(bothNodePorts ? { ports: carryNodePorts(old.ports ?? [], now.ports) } : {}),
    ...(bothChecked
      ? { healthCheckNodePort: now.healthCheckNodePort ?? old.healthCheckNodePort }
      : {}),
  });
}

/** A port keeps its node port by its name, unless that number is named for another port. */
function carryNodePorts(
  old: readonly ServicePort[],
  now: readonly ServicePort[] | undefined,
): readonly ServicePort[] | undefined {
  const byName = new Map(old.map((port) => [port.name, port.nodePort]));
  const named = new Set(now?.map((port) => port.nodePort));
  return now?.map((port) => {
    const kept = byName.get(port.name);
    if (port.nodePort !== undefined || kept === undefined || named.has(kept)) return port;
    return { ...port, nodePort: kept };
  });
}

/** Divines what was meant where only one of the two address fields changed. */
function matchClusterIPs(before: Service, after: Service): Service {
  const [old, now] = [before.spec, after.spec];
  const isCleared = old.clusterIPs !== undefined && now.clusterIPs === undefined;
  if (old.clusterIP === now.clusterIP) {
    return isCleared ? withSpec(after, { clusterIPs: old.clusterIPs }) : after;
  }
  if (!deepEqual(old.clusterIPs, now.clusterIPs)) return after;
  return withSpec(after, {
    clusterIPs: now.clusterIP === undefined ? undefined : [now.clusterIP],
  });
}
