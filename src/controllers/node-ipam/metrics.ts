// What the controller counts, under the names that Kubernetes gives it.
import { formatCidr } from '../../ip/cidr.ts';
import type { MetricsRegistry } from '../../observe/metrics.ts';
import type { NodeRanges } from './node-ranges.ts';

export type NodeIpamMetrics = {
  readonly given: () => void;
  readonly returned: () => void;
};

export function createNodeIpamMetrics(
  registry: MetricsRegistry,
  ranges: readonly NodeRanges[],
): NodeIpamMetrics {
  const name = (end: string): string => `node_ipam_controller_cidrset_${end}`;
  const given = registry.counter({
    name: name('cidrs_allocations_total'),
    help: 'Ranges given to nodes, by range of the cluster.',
  });
  const returned = registry.counter({
    name: name('cidrs_releases_total'),
    help: 'Ranges that came back, by range of the cluster.',
  });
  const labels = ranges.map(({ cluster }) => ({ clusterCIDR: formatCidr(cluster) }));
  registry.gaugeFrom(
    { name: name('usage_cidrs'), help: 'Share of the parts of a range that is in use.' },
    () =>
      ranges.map((one, at) => ({ labels: labels[at] ?? {}, value: one.usedCount() / one.count })),
  );
  return {
    given: () => {
      for (const one of labels) given.add(one);
    },
    returned: () => {
      for (const one of labels) returned.add(one);
    },
  };
}
