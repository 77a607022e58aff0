// Which addresses a node may report. Others trust them: they connect to them, and certificates are issued for them.
// Addresses of the cluster or of another node are refused, unless the node's connection comes from there.

import { isLoopback, parseAddressSloppy } from '../../ip/address.ts';
import type { Node } from '../../kinds/node/types.ts';
import { canonicalHost } from '../../meta/canonical-host.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { sourceAddressOf } from '../access/source-address.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { ClusterAddresses } from '../kubernetes-service/cluster-addresses.ts';
import { isReachable } from '../proxy/find-target.ts';
import type { AdmissionRequest } from './admission.ts';

export type AddressFacts = {
  readonly request: AdmissionRequest;
  readonly node: string;
  readonly reader: ObjectReader;
  readonly addresses: ClusterAddresses;
};

/** Addresses that were reported before are not checked again: a heartbeat must not fail because of them. */
export function nodeAddressProblem(facts: AddressFacts): string | undefined {
  const { request, node } = facts;
  const isSaid = request.operation === 'create' || request.subresource === 'status';
  if (!isSaid) return undefined;
  const before = hostsOf(request.before as Node | undefined);
  const after = hostsOf(request.after as Node | undefined);
  // Computed once, on demand: a node may report thousands of addresses.
  let taken: ReadonlySet<string> | undefined;
  const why = (host: string): string | undefined => {
    if (before.has(host)) return undefined;
    taken ??= hostsOfOthers(facts);
    return hostProblem(host, facts, taken);
  };
  const wrong = [...after].find((host) => why(host) !== undefined);
  if (wrong !== undefined) {
    return `node ${goQuote(node)} is not allowed to set the address ${goQuote(wrong)}: it is ${why(wrong)}`;
  }
  return portProblem(facts, after);
}

function hostsOfOthers({ reader, node }: AddressFacts): ReadonlySet<string> {
  const nodes = reader.list('nodes') as readonly Node[];
  const others = nodes.filter(({ metadata }) => metadata.name !== node);
  return new Set(
    others.flatMap((one) => [
      canonicalHost(one.metadata.name ?? ''),
      ...[...hostsOf(one)].filter((host) => parseAddressSloppy(host) !== undefined),
    ]),
  );
}

function hostsOf(node: Node | undefined): ReadonlySet<string> {
  return new Set((node?.status?.addresses ?? []).map(({ address }) => canonicalHost(address)));
}

function hostProblem(
  host: string,
  facts: AddressFacts,
  taken: ReadonlySet<string>,
): string | undefined {
  const { request, node, addresses } = facts;
  const address = parseAddressSloppy(host);
  const source = sourceAddressOf(request.user);
  if (addresses.isServerHost(host) && !isBesideServer(source, addresses)) return 'of an API server';
  if (address === undefined && host === node) return undefined;
  if (address === undefined ? isNoName(host) : !isReachable(host))
    return 'not one at which others reach a node';
  if (address === undefined) return taken.has(host) ? 'of another node' : undefined;
  if (addresses.isServiceAddress(address)) return 'in a range of Services';
  return taken.has(host) && source !== host ? 'of another node' : undefined;
}

/** An address in another notation, such as `127.1` or `0x7f000001`: resolvers accept them, and no name ends in a number (RFC 1123, 2.1). */
function isNoName(host: string): boolean {
  const last = host.slice(host.lastIndexOf('.') + 1);
  return /[:%]/.test(host) || /^(\d+|0x[\da-f]*)$/.test(last);
}

/** On the machine of a server, which it reaches by loopback or by the server's own address. */
function isBesideServer(source: string | undefined, addresses: ClusterAddresses): boolean {
  const address = parseAddressSloppy(source ?? '');
  if (source === undefined || address === undefined) return false;
  return isLoopback(address) || addresses.isServerHost(source);
}

/** The agent beside a server listens on another port than that. */
function portProblem(
  { request, node, addresses }: AddressFacts,
  hosts: ReadonlySet<string>,
): string | undefined {
  const { kubeletEndpoint } = (request.after as Node).status?.daemonEndpoints ?? {};
  const port = kubeletEndpoint?.Port ?? 0;
  const isServers = [...hosts].some((host) => {
    const address = parseAddressSloppy(host);
    return address !== undefined && addresses.isServer(address, port);
  });
  return isServers
    ? `node ${goQuote(node)} is not allowed to set the port ${port}: an API server listens there`
    : undefined;
}
