import { familyOf } from '../../ip/address.ts';
import { isInRange } from '../../ip/cidr.ts';
import { serviceRanges } from '../address-owner.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import type { Cluster } from '../subject.ts';

export const addressesExhausted: ClusterCheck = {
  code: 'FL0904',
  severity: 'warning',
  title: 'Cluster IPs or node ports are nearly used up',
  scope: 'cluster',
  needs: ['services', 'serviceCIDRs'],
  isLiveOnly: true,
  // Lists of one namespace say nothing of the others.
  find: (cluster) =>
    cluster.index.snapshot.namespaces === undefined
      ? [...fullRanges(cluster), ...nodePorts(cluster)]
      : [],
};

/** From here on one deployment of many Services can fail. */
const nearlyFull = 0.9;
/** Of API servers, unless they are started with --service-node-port-range: 30000 to 32767. */
const [firstNodePort, lastNodePort] = [30_000, 32_767];

function fullRanges({ index }: Cluster): readonly ClusterSymptom[] {
  const addresses = index.snapshot.objects.services.flatMap(({ spec }) => spec.clusterIPs ?? []);
  return serviceRanges(index).flatMap((range) => {
    const size = sizeOf(range);
    if (size === undefined) return [];
    const used = addresses.filter(
      (ip) => familyOf(ip) !== undefined && isInRange(ip, range),
    ).length;
    if (used < size * nearlyFull) return [];
    const about = cidrOf(index.snapshot.objects.serviceCIDRs, range);
    return [
      {
        about,
        severity: used >= size ? 'error' : 'warning',
        message: `${used} of the ${size} addresses for cluster IPs in ${range} are used: without a free one no Service can be created`,
        evidence: [{ object: about, field: 'spec.cidrs', value: range }],
        fix: { sentence: 'Create another ServiceCIDR with a range that the cluster does not use' },
      },
    ];
  });
}

type Cidr = {
  readonly metadata: { readonly name?: string };
  readonly spec?: { readonly cidrs?: readonly string[] };
};

function cidrOf(all: readonly Cidr[], range: string) {
  const found = all.find(({ spec }) => spec?.cidrs?.includes(range));
  return { kind: 'ServiceCIDR', name: found?.metadata.name ?? range };
}

/** Without the addresses of the network and, of IPv4, of broadcasts; undefined for ranges that no cluster fills. */
function sizeOf(range: string): number | undefined {
  const [ip = '', length = ''] = range.split('/');
  const isIPv4 = familyOf(ip) === 'IPv4';
  const bits = (isIPv4 ? 32 : 128) - Number(length);
  return bits > 24 || Number.isNaN(bits) ? undefined : 2 ** bits - (isIPv4 ? 2 : 1);
}

function nodePorts({ index }: Cluster): readonly ClusterSymptom[] {
  const used = new Set(
    index.snapshot.objects.services
      .flatMap(({ spec }) => [
        ...(spec.ports ?? []).map(({ nodePort = 0 }) => nodePort),
        spec.healthCheckNodePort ?? 0,
      ])
      .filter((port) => port >= firstNodePort && port <= lastNodePort),
  );
  const size = lastNodePort - firstNodePort + 1;
  if (used.size < size * nearlyFull) return [];
  const about = { kind: 'Cluster', name: 'node-ports' };
  return [
    {
      about,
      message: `${used.size} of the ${size} node ports from ${firstNodePort} to ${lastNodePort} are used: without a free one no Service of type NodePort or LoadBalancer can be created`,
      evidence: [{ object: about, field: 'used', value: String(used.size) }],
      fix: {
        sentence:
          'Set allocateLoadBalancerNodePorts: false where the load balancer needs none, or widen --service-node-port-range of the API server',
      },
    },
  ];
}
