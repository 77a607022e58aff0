import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleService } from '../kinds/service/example.ts';
import type { ServiceSpec } from '../kinds/service/types.ts';
import { nftables } from '../proxy/modes/nftables/mode.ts';
import { clusterSettings } from '../snapshot/cluster-settings.ts';
import { exampleDeployment, exampleNode } from '../snapshot/example.ts';
import { indexSnapshot } from '../snapshot/index-snapshot.ts';
import { exampleCluster } from './example.ts';
import { anySources, type ClientPort, judgePort } from './judge-port.ts';

const policies = ['Cluster', 'Local'] as const;
const distributions = [undefined, 'PreferSameZone', 'PreferSameNode'] as const;
const zones = ['a', 'a', 'b', 'c'];
const nodes = zones.map((zone, at) => exampleNode(at + 1, { zone }));
const names = nodes.map(({ metadata }) => metadata.name ?? '');
const ports = ['cluster', 'address', 'node-port'] as const;

/** All kinds of Services whose endpoints may differ by node. */
const services: readonly ServiceSpec[] = policies.flatMap((internalTrafficPolicy) =>
  policies.flatMap((externalTrafficPolicy) =>
    distributions.map((trafficDistribution) => ({
      ...{ type: 'LoadBalancer', selector: { app: 'web' }, internalTrafficPolicy },
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30080 }],
      externalTrafficPolicy,
      ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
    })),
  ),
);

function compareAlone(spec: ServiceSpec, replicas: number): void {
  const service = exampleService({
    metadata: { uid: 'service-web' },
    spec,
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } },
  });
  const deployments = [exampleDeployment('web', { replicas })];
  const index = indexSnapshot(exampleCluster({ nodes, services: [service], deployments }));
  const settings = clusterSettings(index);
  const moment = { index, named: index, sources: anySources(index, settings) };
  for (const by of ports) {
    const number = by === 'node-port' ? 30080 : 80;
    const port: ClientPort = { by, family: 'IPv4', protocol: 'TCP', port: number };
    const judge = (of: readonly string[]) =>
      judgePort(moment, { service, port, nodes: of }, { settings, mode: nftables });
    const together = judge(names);
    for (const name of names) {
      const what = `${by} at ${name}: ${JSON.stringify(spec)}`;
      assert.equal(together(name).key, judge([name])(name).key, what);
      assert.notEqual(together(name).outcome, 'no-service', what);
    }
  }
}

describe('judgePort()', () => {
  for (const replicas of [0, 1, 2, 5]) {
    it(`finds by groups of nodes what holds for each node, with ${replicas} endpoints`, () => {
      for (const spec of services) compareAlone(spec, replicas);
    });
  }
});
