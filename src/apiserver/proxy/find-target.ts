// The target of a proxy request. Only pods: a client that may write Endpoints could otherwise reach
// everything that the server can reach (upstream: pkg/registry/core/service/proxy.go, pkg/registry/core/pod/strategy.go).

import {
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  parseAddress,
} from '../../ip/address.ts';
import type { EndpointAddress, EndpointSubset, Endpoints } from '../../kinds/endpoints/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { badRequest, notFound, serviceUnavailable } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { NodeCredentials } from '../certificates/node-credentials.ts';
import { parseTargetName, type TargetName } from './target-name.ts';

export type Target = {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** Of a node's agent: the node whose certificate it must have, and this server's credentials. Absent for pods. */
  readonly agent?: { readonly node: string; readonly credentials: NodeCredentials };
};

export type FindTarget = {
  readonly reader: ObjectReader;
  readonly namespace: string;
  /** As in the path: `[scheme:]name[:port]`. */
  readonly id: string;
  /** An integer from 0 up to, but not including, `below`. */
  readonly random: (below: number) => number;
};

/** A ready pod behind the service. Throws ApiError when there is none. */
export function findServiceTarget({ reader, namespace, id, random }: FindTarget): Target {
  const named = parseTargetName(id);
  if (named === undefined) throw badRequest(`invalid service request ${goQuote(id)}`);
  const { scheme, name } = named;
  const portName = servicePortName(reader, namespace, named);
  const endpoints = reader.get('endpoints', namespace, name) as Endpoints | undefined;
  if (endpoints === undefined) throw notFound({ group: '', resource: 'endpoints' }, name);
  const { subsets = [] } = endpoints;
  for (const { addresses = [], ports = [] } of fromAnywhere(subsets.filter(isReady), random)) {
    const port = ports.find((p) => (p.name ?? '') === portName)?.port;
    if (port === undefined) continue;
    const address = fromAnywhere(addresses, random).find((a) => isOfPod(reader, namespace, a));
    if (address !== undefined) return { scheme, host: address.ip, port };
  }
  // Upstream names the service where there are no subsets, and otherwise the requested id.
  const what = subsets.length === 0 ? name : id;
  throw serviceUnavailable(`no endpoints available for service ${goQuote(what)}`);
}

const isReady = ({ addresses = [] }: EndpointSubset): boolean => addresses.length > 0;

/** A number is one of the service's ports, and stands for its name. */
function servicePortName(reader: ObjectReader, namespace: string, named: TargetName): string {
  const { name, port } = named;
  if (!/^[+-]?\d+$/.test(port)) return port;
  const service = reader.get('services', namespace, name) as Service | undefined;
  if (service === undefined) throw notFound({ group: '', resource: 'services' }, name);
  const found = service.spec.ports?.find((p) => p.port === Number(port));
  if (found !== undefined) return found.name ?? '';
  throw serviceUnavailable(`no service port ${Number(port)} found for service ${goQuote(name)}`);
}

/** The same items, starting at a random one. */
function fromAnywhere<T>(items: readonly T[], random: (below: number) => number): readonly T[] {
  const start = items.length === 0 ? 0 : random(items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}

function isOfPod(
  reader: ObjectReader,
  namespace: string,
  { ip, targetRef }: EndpointAddress,
): boolean {
  if (targetRef === undefined || targetRef.namespace !== namespace) return false;
  if (targetRef.kind !== undefined && targetRef.kind !== 'Pod') return false;
  const pod = reader.get('pods', namespace, targetRef.name ?? '') as Pod | undefined;
  return isReachable(ip) && (pod?.status.podIPs?.some((own) => own.ip === ip) ?? false);
}

/** The pod's own address and port; without a port the first that a container has. */
export function findPodTarget({ reader, namespace, id }: FindTarget): Target {
  const named = parseTargetName(id);
  if (named === undefined) throw badRequest(`invalid pod request ${goQuote(id)}`);
  const pod = reader.get('pods', namespace, named.name) as Pod | undefined;
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, named.name);
  const host = pod.status.podIPs?.[0]?.ip ?? '';
  if (!isReachable(host)) throw badRequest('address not allowed');
  return { scheme: named.scheme, host, port: podPort(pod, named) };
}

function podPort({ spec }: Pod, { scheme, port }: TargetName): number {
  const ports = (spec.containers ?? []).flatMap((container) => container.ports ?? []);
  if (port === '') return ports[0]?.containerPort ?? (scheme === 'https' ? 443 : 80);
  const number = /^\d+$/.test(port)
    ? Number(port)
    : ports.find((p) => p.name === port)?.containerPort;
  if (number !== undefined && number > 0 && number < 65_536) return number;
  throw badRequest(`invalid port ${goQuote(port)}`);
}

/** Neither loopback, nor link-local, nor multicast addresses, and the like. */
export function isReachable(ip: string): boolean {
  const address = parseAddress(ip);
  if (address === undefined || address.mapped === true) return false;
  const isMulticast =
    address.family === 'IPv4' ? address.value >> 28n === 14n : address.value >> 120n === 255n;
  return !(
    isMulticast ||
    isUnspecified(address) ||
    isLoopback(address) ||
    isLinkLocalUnicast(address) ||
    isLinkLocalMulticast(address) ||
    ip === '255.255.255.255'
  );
}
