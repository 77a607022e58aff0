// The canonical form of subsets: each address once for each set of ports, in an order that depends on the content only.
// Controllers and readers that compare Endpoints rely on it.
import { createHash } from 'node:crypto';
import type { EndpointAddress, EndpointPort, EndpointSubset } from './types.ts';

type Member = { readonly address: EndpointAddress; readonly isReady: boolean };
type PortMembers = {
  readonly port: EndpointPort | undefined;
  readonly members: Map<string, Member>;
};

export function repackSubsets(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  const repacked = groupBySameMembers(membersOfPorts(subsets)).map(toSubset);
  if (repacked.length < 2) return repacked;
  return sortedBy(repacked, (subset) => digest(goSubset(subset)));
}

/** Addresses by port. Addresses without ports are stored under a port that does not exist. */
function membersOfPorts(subsets: readonly EndpointSubset[]): readonly PortMembers[] {
  const addresses = new Map<string, EndpointAddress>();
  const byPort = new Map<string, PortMembers>();
  const known = new Map<EndpointPort | undefined, PortMembers>();
  for (const { addresses: ready = [], notReadyAddresses = [], ports = [] } of subsets) {
    if (ready.length + notReadyAddresses.length === 0) continue;
    for (const port of ports.length === 0 ? [undefined] : ports) {
      // Subsets of a Service share port objects; comparing by identity is much cheaper.
      const group = known.get(port) ?? groupOf(byPort, port);
      known.set(port, group);
      const add = (isReady: boolean) => (address: EndpointAddress) =>
        join(group.members, addresses, { address, isReady });
      ready.forEach(add(true));
      notReadyAddresses.forEach(add(false));
    }
  }
  return [...byPort.values()];
}

function groupOf(byPort: Map<string, PortMembers>, port: EndpointPort | undefined): PortMembers {
  const key = port === undefined ? '' : goPort(port);
  const group = byPort.get(key) ?? { port, members: new Map<string, Member>() };
  byPort.set(key, group);
  return group;
}

function join(
  members: Map<string, Member>,
  addresses: Map<string, EndpointAddress>,
  { address, isReady }: Member,
): void {
  const key = addressKey(address);
  const first = addresses.get(key) ?? address;
  addresses.set(key, first);
  // An address listed as both is not ready.
  const wasReady = members.get(key)?.isReady ?? true;
  members.set(key, { address: first, isReady: isReady && wasReady });
}

/** The same address of two pods counts twice, once for each pod. */
function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ''}`;
}

type Group = { readonly members: readonly Member[]; readonly ports: readonly EndpointPort[] };

function groupBySameMembers(ports: readonly PortMembers[]): readonly Group[] {
  if (ports.length === 1) {
    return ports.map(({ port, members }) => ({
      members: [...members.values()],
      ports: port === undefined ? [] : [port],
    }));
  }
  const groups = new Map<string, { members: readonly Member[]; ports: EndpointPort[] }>();
  for (const { port, members } of ports) {
    const signature = [...members].map(([key, { isReady }]) => `${key} ${isReady}`).sort();
    const key = signature.join('\n');
    const group = groups.get(key) ?? { members: [...members.values()], ports: [] };
    groups.set(key, group);
    if (port !== undefined) group.ports.push(port);
  }
  return [...groups.values()];
}

function toSubset({ members, ports }: Group): EndpointSubset {
  const ready = sortedAddresses(members.filter(({ isReady }) => isReady));
  const notReady = sortedAddresses(members.filter(({ isReady }) => !isReady));
  const sortedPorts = ports.length < 2 ? ports : sortedBy(ports, (port) => digest(goPort(port)));
  return {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(sortedPorts.length === 0 ? {} : { ports: sortedPorts }),
  };
}

function sortedAddresses(members: readonly Member[]): readonly EndpointAddress[] {
  return members.map(({ address }) => address).sort(byIpThenUid);
}

/** Compared as text: 10.0.0.10 comes before 10.0.0.9. */
function byIpThenUid(a: EndpointAddress, b: EndpointAddress): number {
  return compareText(a.ip, b.ip) || compareText(a.targetRef?.uid ?? '', b.targetRef?.uid ?? '');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ item }) => item);
}

function digest(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

// Upstream orders ports and subsets by the MD5 of Go's spew output. The same text gives the same order, so that the two
// controllers can replace each other without rewriting objects.

function goPort(port: EndpointPort): string {
  return `(v1.EndpointPort)${goPortFields(port)}`;
}

function goPortFields({ name = '', port, protocol = '', appProtocol }: EndpointPort): string {
  return `{Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:${goPointer(appProtocol)}}`;
}

function goSubset({ addresses, notReadyAddresses, ports }: EndpointSubset): string {
  const list = (type: string, items: readonly string[] | undefined): string =>
    `([]v1.${type})${items === undefined ? '<nil>' : `[${items.join(' ')}]`}`;
  return `(v1.EndpointSubset){Addresses:${list('EndpointAddress', addresses?.map(goAddress))} NotReadyAddresses:${list('EndpointAddress', notReadyAddresses?.map(goAddress))} Ports:${list('EndpointPort', ports?.map(goPortFields))}}`;
}

function goAddress({ ip, hostname = '', nodeName, targetRef }: EndpointAddress): string {
  return `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:${goPointer(nodeName)} TargetRef:(*v1.ObjectReference)${goReference(targetRef)}}`;
}

function goReference(reference: EndpointAddress['targetRef']): string {
  if (reference === undefined) return '<nil>';
  const { kind = '', namespace = '', name = '', uid = '' } = reference;
  const { apiVersion = '', resourceVersion = '', fieldPath = '' } = reference;
  return `{Kind:(string)${kind} Namespace:(string)${namespace} Name:(string)${name} UID:(types.UID)${uid} APIVersion:(string)${apiVersion} ResourceVersion:(string)${resourceVersion} FieldPath:(string)${fieldPath}}`;
}

function goPointer(text: string | undefined): string {
  return `(*string)${text ?? '<nil>'}`;
}
