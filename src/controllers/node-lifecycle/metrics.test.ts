import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, nodeSchema } from '../../kinds/node/types.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { decode } from '../../schema/decode.ts';
import { measureNodes } from './metrics.ts';

function node(status: string, labels: Readonly<Record<string, string>> = {}): Node {
  const { object } = decode(nodeSchema, {
    metadata: { labels },
    status: { conditions: [{ type: 'Ready', status }] },
  });
  return object as Node;
}

test('measureNodes() counts the nodes of each zone on a scrape', () => {
  const registry = createMetrics();
  const nodes: Node[] = [];
  measureNodes(registry, () => nodes);
  const zone = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' };
  nodes.push(node('True'), node('True', zone), node('Unknown', zone));
  const lines = registry.text().split('\n');
  for (const line of [
    'node_collector_zone_size{zone=""} 1',
    'node_collector_zone_size{zone="r:\x00:z"} 2',
    'node_collector_unhealthy_nodes_in_zone{zone=""} 0',
    'node_collector_unhealthy_nodes_in_zone{zone="r:\x00:z"} 1',
    'node_collector_zone_health{zone="r:\x00:z"} 50',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});
