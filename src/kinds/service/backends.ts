// The pods behind a Service, and how to reach them, for both endpoint controllers.
import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { deepEqual } from '../../schema/equality.ts';
import { findContainerPort } from '../pod/ports.ts';
import { isPodFinished, isPodReady } from '../pod/readiness.ts';
import type { Pod } from '../pod/types.ts';
import { isSelectorless } from './needs.ts';
import { headlessIP, type IPFamily, type Service, type ServicePort } from './types.ts';

/** Whether controllers manage its endpoints; otherwise a user or another program does, or they do not exist. */
export function hasSelectedPods(service: Service): boolean {
  return service.spec.type !== 'ExternalName' && !isSelectorless(service);
}

export function hasClusterIP({ spec }: Service): boolean {
  return spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== headlessIP;
}

/** Whether the pod has an address and may still serve. Terminating pods count on request. */
export function canAnswer(pod: Pod, withTerminating: boolean): boolean {
  if (isPodFinished(pod)) return false;
  if (!pod.status.podIP && (pod.status.podIPs ?? []).length === 0) return false;
  return withTerminating || pod.metadata.deletionTimestamp === undefined;
}

/** The pod's addresses of a family. The colon decides: stored addresses never mix both forms. */
export function podAddresses({ status }: Pod, family: IPFamily): readonly string[] {
  const isIPv6 = family === 'IPv6';
  const addresses: string[] = [];
  for (const { ip } of status.podIPs ?? []) {
    if (ip.includes(':') === isIPv6) addresses.push(isIPv6 ? canonical(ip) : ip);
  }
  return addresses;
}

/** Canonical form for the common case: groups without leading zeros, and one gap of two or more groups. */
const plainIPv6 = /^(?:[1-9a-f][0-9a-f]{0,3}:){1,5}:[1-9a-f][0-9a-f]{0,3}$/;

/** Pods may have IPv6 addresses that are not canonical; readers compare addresses as text. */
function canonical(ip: string): string {
  if (plainIPv6.test(ip)) return ip;
  const address = parseAddressSloppy(ip);
  return address === undefined ? ip : formatAddress(address);
}

/** The hostname of a pod whose subdomain is the Service. */
export function hostnameUnder(service: Service, { metadata, spec }: Pod): string | undefined {
  const isInDomain =
    spec.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isInDomain && spec.hostname ? spec.hostname : undefined;
}

/** The target port of a pod; undefined when it does not define the named port. */
export function targetPortNumber(pod: Pod, port: ServicePort): number | undefined {
  if (typeof port.targetPort === 'number') return port.targetPort;
  return findContainerPort(pod, port.targetPort, port.protocol ?? 'TCP')?.containerPort;
}

/** Whether an update of a pod cannot affect endpoints. */
export function isSameBackend(before: Pod, after: Pod): boolean {
  // A pod that could not serve before and cannot now is in no endpoints.
  if (!canAnswer(before, true) && !canAnswer(after, true)) return true;
  return (
    before.metadata.uid === after.metadata.uid &&
    before.metadata.deletionTimestamp === after.metadata.deletionTimestamp &&
    before.spec.nodeName === after.spec.nodeName &&
    before.spec.hostname === after.spec.hostname &&
    before.spec.subdomain === after.spec.subdomain &&
    isPodReady(before) === isPodReady(after) &&
    canAnswer(before, true) === canAnswer(after, true) &&
    deepEqual(before.status.podIPs, after.status.podIPs) &&
    deepEqual(before.metadata.labels, after.metadata.labels)
  );
}
