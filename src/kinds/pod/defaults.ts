// Defaults of pods.
import { aggregateResources } from './aggregate-resources.ts';
import type { Container } from './container.ts';
import { defaultContainer } from './defaults-container.ts';
import { defaultVolume } from './defaults-volume.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodStatus } from './pod-status.ts';
import {
  type ResourceList,
  type ResourceRequirements,
  roundQuantities,
  roundRequirements,
} from './resources.ts';
import type { Pod } from './types.ts';
import { isHugePages, isPodLevelResource } from './validate-resources.ts';

const graceSeconds = 30;

export function defaultPod(pod: Pod): Pod {
  return {
    ...pod,
    spec: defaultRunning(defaultPodSpec(pod.spec)),
    status: alignPodIPs(pod.status),
  };
}

/** Shared by pods and pod templates. */
export function defaultPodSpec(spec: PodSpec): PodSpec {
  const { volumes, initContainers, ephemeralContainers, overhead, resources } = spec;
  const account = spec.serviceAccountName || spec.serviceAccount;
  return {
    ...spec,
    ...(volumes === undefined ? {} : { volumes: volumes.map(defaultVolume) }),
    ...(initContainers === undefined
      ? {}
      : { initContainers: initContainers.map((c) => defaultContainer(c)) }),
    containers: spec.containers === null ? null : spec.containers.map((c) => defaultContainer(c)),
    ...(ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: ephemeralContainers.map((c) => defaultContainer(c)) }),
    ...(overhead === undefined ? {} : { overhead: roundQuantities(overhead) }),
    ...(resources === undefined ? {} : { resources: roundRequirements(resources) }),
    restartPolicy: spec.restartPolicy || 'Always',
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? graceSeconds,
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    ...(account ? { serviceAccountName: account, serviceAccount: account } : {}),
    securityContext: spec.securityContext ?? {},
    schedulerName: spec.schedulerName || 'default-scheduler',
  };
}

/** Only for pods, so that templates of older servers keep their hash. */
function defaultRunning(spec: PodSpec): PodSpec {
  const withPorts = spec.hostNetwork ? bindHostPorts : (container: Container) => container;
  const settle = (container: Container) =>
    withPorts({ ...container, resources: requestLimits(container.resources) });
  const { initContainers, resources } = spec;
  const settled = {
    containers: spec.containers === null ? null : spec.containers.map(settle),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(settle) }),
  };
  return {
    ...spec,
    ...settled,
    enableServiceLinks: spec.enableServiceLinks ?? true,
    ...(resources === undefined ? {} : { resources: settlePod(resources, settled) }),
    // Negative seconds were once accepted; they mean 1.
    terminationGracePeriodSeconds:
      (spec.terminationGracePeriodSeconds ?? graceSeconds) < 0
        ? 1
        : (spec.terminationGracePeriodSeconds ?? graceSeconds),
  };
}

function bindHostPorts(container: Container): Container {
  if (container.ports === undefined) return container;
  const ports = container.ports.map((port) =>
    port.hostPort ? port : { ...port, hostPort: port.containerPort },
  );
  return { ...container, ports };
}

function requestLimits(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources;
  return { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

/**
 * What is left out for the pod as a whole: huge pages may be used as far as its containers may, and it requests what they request
 * together, or else its limit.
 */
function settlePod(
  resources: ResourceRequirements,
  pod: Parameters<typeof aggregateResources>[0],
): ResourceRequirements {
  if (Object.keys({ ...resources.limits, ...resources.requests }).length === 0) return resources;
  const pages = pick(aggregateResources(pod, 'limits'), isHugePages);
  const limits = { ...pages, ...resources.limits };
  const together = aggregateResources(pod, 'requests');
  const requests = {
    ...pick(limits, isPodLevelResource),
    ...pick(together, (name) => isPodLevelResource(name) && !isHugePages(name)),
    ...resources.requests,
  };
  return {
    ...resources,
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
  };
}

function pick(list: ResourceList, isWanted: (name: string) => boolean): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([name]) => isWanted(name)));
}

/** podIP is the first of podIPs; if they differ, podIP wins. */
function alignPodIPs(status: PodStatus): PodStatus {
  const { podIP, podIPs } = status;
  if (podIP) {
    return podIPs?.[0]?.ip === podIP ? status : { ...status, podIPs: [{ ip: podIP }] };
  }
  const first = podIPs?.[0]?.ip;
  return first ? { ...status, podIP: first } : status;
}
