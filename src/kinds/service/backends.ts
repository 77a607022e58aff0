// Which pods stand behind a Service, and how they are reached. What the endpoint controllers agree on.
import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { deepEqual } from '../../schema/equality.ts';
import { findContainerPort } from '../pod/ports.ts';
import { isPodFinished, isPodReady } from '../pod/readiness.ts';
import type { Pod } from '../pod/types.ts';
import { isSelectorless } from './needs.ts';
import { headlessIP, type IPFamily, type Service, type ServicePort } from './types.ts';

/** Whether controllers look for pods; otherwise somebody else keeps the endpoints, or nobody. */
export function hasSelectedPods(service: Service): boolean {
  return service.spec.type !== 'ExternalName' && !isSelectorless(service);
}

export function hasClusterIP({ spec }: Service): boolean {
  return spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== headlessIP;
}

/** Whether the pod has an address and can still answer. Pods on their way out count only where it is said. */
export function canAnswer(pod: Pod, withTerminating: boolean): boolean {
  if (isPodFinished(pod)) return false;
  if (!pod.status.podIP && (pod.status.podIPs ?? []).length === 0) return false;
  return withTerminating || pod.metadata.deletionTimestamp === undefined;
}

/** The pod's addresses of a family. Servers store no address that is both, so one look at its form is enough. */
export function podAddresses({ status }: Pod, family: IPFamily): readonly string[] {
  const isIPv6 = family === 'IPv6';
  const addresses: string[] = [];
  for (const { ip } of status.podIPs ?? []) {
    if (ip.includes(':') === isIPv6) addresses.push(isIPv6 ? canonical(ip) : ip);
  }
  return addresses;
}

/** Groups without leading zeros before a gap of two or more, and one behind it: nothing to mend, as with most pods. */
const plainIPv6 = /^(?:[1-9a-f][0-9a-f]{0,3}:){1,5}:[1-9a-f][0-9a-f]{0,3}$/;

/** Pods may spell an IPv6 address loosely, and for IPv4 there is one spelling; readers compare addresses as text. */
function canonical(ip: string): string {
  if (plainIPv6.test(ip)) return ip;
  const address = parseAddressSloppy(ip);
  return address === undefined ? ip : formatAddress(address);
}

/** The pod's host name, where the service is the domain that it is in. */
export function hostnameUnder(service: Service, { metadata, spec }: Pod): string | undefined {
  const isInDomain =
    spec.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isInDomain && spec.hostname ? spec.hostname : undefined;
}

/** The number at the pod that the port of the service leads to; undefined when the pod has no port of that name. */
export function targetPortNumber(pod: Pod, port: ServicePort): number | undefined {
  if (typeof port.targetPort === 'number') return port.targetPort;
  return findContainerPort(pod, port.targetPort, port.protocol ?? 'TCP')?.containerPort;
}

/** Whether an update of a pod can make no difference to the endpoints of any service. */
export function isSameBackend(before: Pod, after: Pod): boolean {
  // A pod that could not answer before and cannot now is listed nowhere.
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
