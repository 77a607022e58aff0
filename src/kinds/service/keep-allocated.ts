// Fields that a client may omit because the server knows them: allocated values are kept, and clusterIP and clusterIPs
// are reconciled. Runs before allocation.
import { deepEqual } from '../../schema/equality.ts';
import { needsClusterIP, needsHealthCheck, wantsNodePorts } from './needs.ts';
import { type Service, type ServicePort, withSpec } from './types.ts';

/** A new Service: old clients send only `clusterIP`. The reverse is not completed, and rejected by validation. */
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

/** A port keeps its node port, matched by name, unless another port specifies that number. */
function carryNodePorts(
  old: readonly ServicePort[],
  now: readonly ServicePort[] | undefined,
): readonly ServicePort[] | undefined {
  const byName = new Map(old.map((port) => [port.name, port.nodePort]));
  const named = new Set(now?.map((port) => port.nodePort));
  return now?.map((port) => {
    const stored = byName.get(port.name);
    if (port.nodePort !== undefined || stored === undefined || named.has(stored)) return port;
    return { ...port, nodePort: stored };
  });
}

/** Infers the intent when only one of the two fields changed. */
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
