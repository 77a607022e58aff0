// Metrics, under upstream's names.
import { isNodeReady } from '../../kinds/node/readiness.ts';
import type { Node } from '../../kinds/node/types.ts';
import { regionLabel, zoneLabel } from '../../meta/well-known-labels.ts';
import type { MetricsRegistry, Sample } from '../../observe/metrics.ts';

type Zone = { nodes: number; unhealthy: number };

/** Computed on each scrape: nodes are few, and scrapes rare. */
export function measureNodes(registry: MetricsRegistry, nodes: () => Iterable<Node>): void {
  const gauge = (name: string, help: string, value: (zone: Zone) => number): void =>
    registry.gaugeFrom({ name: `node_collector_${name}`, help }, () =>
      [...zonesOf(nodes())].map(
        ([zone, counts]): Sample => ({
          labels: { zone },
          value: value(counts),
        }),
      ),
    );
  gauge('zone_size', 'Nodes in each zone.', (zone) => zone.nodes);
  gauge('unhealthy_nodes_in_zone', 'Nodes that are not ready.', (zone) => zone.unhealthy);
  gauge(
    'zone_health',
    'Ready nodes of each zone in percent.',
    ({ nodes: all, unhealthy }) => (100 * (all - unhealthy)) / all,
  );
}

function zonesOf(nodes: Iterable<Node>): ReadonlyMap<string, Zone> {
  const zones = new Map<string, Zone>();
  for (const node of nodes) {
    const { [zoneLabel]: zone = '', [regionLabel]: region = '' } = node.metadata.labels ?? {};
    // Upstream's zone key: region and zone, separated by a zero byte.
    const name = zone === '' && region === '' ? '' : `${region}:\x00:${zone}`;
    const counts = zones.get(name) ?? { nodes: 0, unhealthy: 0 };
    zones.set(name, counts);
    counts.nodes += 1;
    if (!isNodeReady(node)) counts.unhealthy += 1;
  }
  return zones;
}
