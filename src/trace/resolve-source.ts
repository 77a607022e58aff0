// Where a connection starts: a pod, a node, or a client outside; with its addresses, its node and its resolver.
import { formatAddress, parseAddress } from '../ip/address.ts';
import { addressCount, nthAddress, parseCidr } from '../ip/cidr.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { type BuiltConfig, buildResolverConfig } from '../node/environment/resolver-config.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { absenceText, isRead } from '../snapshot/snapshot.ts';
import { anyPodHosts, machineHosts, podHosts } from './hosts-file.ts';
import type { Parsed, SourceRequest } from './parse-target.ts';
import type { Resolver, TraceSettings, TraceSource } from './trace.ts';

export type Source = TraceSource & {
  readonly resolver: Resolver;
  /** In the form of hosts(5): names that need no query. */
  readonly hosts: string;
  /** Whether its resolver queries the DNS of the cluster. */
  readonly usesClusterDns: boolean;
  /** The namespace whose names need no suffix; undefined outside of pods. */
  readonly namespace?: string;
  /** Shares the network of its node. */
  readonly isOnHost: boolean;
};

export type SourceOptions = {
  readonly settings: TraceSettings;
  /** The current namespace. */
  readonly namespace: string;
  /** The node at which connections from outside arrive; absent: any. */
  readonly via?: string;
};

export function resolveSource(
  index: SnapshotIndex,
  request: SourceRequest,
  options: SourceOptions,
): Parsed<Source> {
  switch (request.kind) {
    case 'any-pod':
      return { value: anyPod(index, options) };
    case 'pod':
      return podSource(index, request, options);
    case 'node':
      return nodeSource(index, request.name);
    case 'outside':
      return outsideSource(index, request.ip, options);
  }
}

/** Stands for a node that is not known, and equals none. */
export const unknownNode = '?';

function anyPod(index: SnapshotIndex, options: SourceOptions): Source {
  const { namespace } = options;
  return {
    kind: 'pod',
    namespace,
    isAssumed: true,
    isOnHost: false,
    addresses: [],
    nodes: nodeNames(index),
    sentence: `a pod in namespace ${namespace}, on any node`,
    hosts: anyPodHosts,
    ...podResolver({ spec: { dnsPolicy: 'ClusterFirst' } }, namespace, options),
  };
}

function podSource(
  index: SnapshotIndex,
  request: { readonly namespace?: string; readonly name: string },
  options: SourceOptions,
): Parsed<Source> {
  const { namespace = options.namespace, name } = request;
  const pod = index.pod(namespace, name);
  if (pod === undefined) {
    return {
      error: absenceText(index.snapshot, { what: `pod "${name}"`, kind: 'pods', namespace }),
    };
  }
  const node = pod.spec.nodeName ?? '';
  if (node === '') {
    return { error: `Pod "${name}" in namespace "${namespace}" is on no node yet` };
  }
  const isOnHost = pod.spec.hostNetwork === true;
  const addresses = podAddresses(pod);
  return {
    value: {
      kind: 'pod',
      ...{ namespace, name, isOnHost },
      isAssumed: false,
      addresses,
      hosts: podHosts(pod, addresses, options.settings.domain.value),
      nodes: [node],
      sentence: `pod ${namespace}/${name} on node ${node}${isOnHost ? ', on the network of its node' : ''}`,
      ...podResolver(pod, namespace, options),
    },
  };
}

function nodeSource(index: SnapshotIndex, name: string): Parsed<Source> {
  const node = index.node(name);
  if (node === undefined && isRead(index.snapshot, 'nodes')) {
    return { error: `There is no node "${name}"` };
  }
  return {
    value: {
      kind: 'node',
      name,
      isAssumed: false,
      isOnHost: true,
      addresses: node === undefined ? [] : nodeAddressesOf(node),
      nodes: [name],
      sentence: `a process of node ${name}`,
      ...ofMachine('the configuration of the node, which is not known here'),
    },
  };
}

function outsideSource(
  index: SnapshotIndex,
  ip: string | undefined,
  { via }: SourceOptions,
): Parsed<Source> {
  if (via !== undefined && index.node(via) === undefined && isRead(index.snapshot, 'nodes')) {
    return { error: `There is no node "${via}"` };
  }
  return {
    value: {
      kind: 'outside',
      isAssumed: ip === undefined,
      isOnHost: false,
      addresses: ip === undefined ? [] : [ip],
      nodes: via === undefined ? nodeNames(index) : [via],
      sentence: `a client outside of the cluster${ip === undefined ? '' : ` with the address ${ip}`}${via === undefined ? '' : `, by way of node ${via}`}`,
      ...ofMachine('a resolver outside of the cluster'),
    },
  };
}

function nodeNames({ snapshot }: SnapshotIndex): readonly string[] {
  const names = snapshot.objects.nodes.map(({ metadata }) => metadata.name ?? '').sort();
  return names.length === 0 ? [unknownNode] : names;
}

function podAddresses({ status }: Pod): readonly string[] {
  const listed = status.podIPs?.map(({ ip }) => ip) ?? [];
  return (listed.length > 0 ? listed : [status.podIP ?? '']).filter((ip) => ip !== '');
}

export function nodeAddressesOf({ status }: Node): readonly string[] {
  const ips = (status.addresses ?? []).filter(({ type }) => type.endsWith('IP'));
  return [...new Set(ips.map(({ address }) => address))];
}

type ResolverParts = Pick<Source, 'resolver' | 'usesClusterDns'>;
type MachineParts = ResolverParts & Pick<Source, 'hosts'>;

/** In place of an address that is not known. */
const someServer = '(address not known)';
/** resolv.conf(5). */
const defaultNdots = 1;

function podResolver(
  { spec }: { readonly spec: Partial<Pod['spec']> },
  namespace: string,
  { settings }: SourceOptions,
): ResolverParts {
  const { dnsAddresses, domain } = settings;
  const nameservers = dnsAddresses.value.length > 0 ? dnsAddresses.value : [someServer];
  const { dnsPolicy = 'ClusterFirst', dnsConfig, hostNetwork } = spec;
  const built = buildResolverConfig(
    {
      dnsPolicy,
      ...(dnsConfig === undefined ? {} : { dnsConfig }),
      ...(hostNetwork === undefined ? {} : { hostNetwork }),
    },
    namespace,
    {
      // That of its node, which no object says.
      host: { nameservers: [], searches: [], options: [] },
      cluster: { nameservers, domain: domain.value },
    },
  );
  const from = [`dnsPolicy ${dnsPolicy}`, ...(dnsConfig === undefined ? [] : ['dnsConfig'])];
  return {
    resolver: { ...resolverOf(built), source: from.join(' and ') },
    usesClusterDns: built.config.nameservers.some((one) => nameservers.includes(one)),
  };
}

function resolverOf({ config, warnings }: BuiltConfig): Omit<Resolver, 'source'> {
  const ndots = config.options.find((option) => option.startsWith('ndots:'))?.slice(6);
  return {
    ...config,
    ndots: ndots !== undefined && /^\d{1,2}$/.test(ndots) ? Number(ndots) : defaultNdots,
    warnings: warnings.map(({ message }) => message),
  };
}

function ofMachine(source: string): MachineParts {
  const resolver = {
    ...{ nameservers: [], searches: [], options: [], ndots: defaultNdots, warnings: [] },
    source,
  };
  return { resolver, hosts: machineHosts, usesClusterDns: false };
}

/** An address that a pod of the node could have, and that is of none of these; undefined: its range is not known. */
export function freeAddress(
  range: string | undefined,
  used: ReadonlySet<string>,
): string | undefined {
  const cidr = range === undefined ? undefined : parseCidr(range);
  if (cidr === undefined) return undefined;
  const count = addressCount(cidr);
  // From behind: the first ones are taken.
  for (let back = 2n; back < count && back < maxTries; back += 1n) {
    const address = formatAddress(nthAddress(cidr, count - back));
    if (!used.has(address) && parseAddress(address) !== undefined) return address;
  }
  return undefined;
}

const maxTries = 1000n;
