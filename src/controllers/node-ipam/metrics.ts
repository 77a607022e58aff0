// Metrics, under upstream's names.
import { formatCidr } from '../../ip/cidr.ts';
import type { MetricsRegistry } from '../../observe/metrics.ts';
import type { NodeRanges } from './node-ranges.ts';

export type NodeIpamMetrics = {
  readonly allocated: () => void;
  readonly released: () => void;
};

export function createNodeIpamMetrics(
  registry: MetricsRegistry,
  ranges: readonly NodeRanges[],
): NodeIpamMetrics {
  const name = (end: string): string => `node_ipam_controller_cidrset_${end}`;
  const allocated = registry.counter({
    name: name('cidrs_allocations_total'),
    help: 'Pod ranges allocated to nodes, by cluster CIDR.',
  });
  const released = registry.counter({
    name: name('cidrs_releases_total'),
    help: 'Pod ranges released, by cluster CIDR.',
  });
  const labels = ranges.map(({ cluster }) => ({ clusterCIDR: formatCidr(cluster) }));
  registry.gaugeFrom(
    {
      name: name('usage_cidrs'),
      help: 'Share of the pod ranges of a cluster CIDR that is in use.',
    },
    () =>
      ranges.map((one, at) => ({ labels: labels[at] ?? {}, value: one.usedCount() / one.size })),
  );
  return {
    allocated: () => {
      for (const one of labels) allocated.add(one);
    },
    released: () => {
      for (const one of labels) released.add(one);
    },
  };
}
