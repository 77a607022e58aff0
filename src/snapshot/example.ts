// A small cluster for tests: nodes in two zones, a deployment and its Service, nothing settled.

import { defaultDeployment } from '../kinds/deployment/defaults.ts';
import { type Deployment, deploymentSchema } from '../kinds/deployment/types.ts';
import { type Node, nodeSchema } from '../kinds/node/types.ts';
import { exampleService } from '../kinds/service/example.ts';
import { hostnameLabel, zoneLabel } from '../meta/well-known-labels.ts';
import { decode } from '../schema/decode.ts';
import { makeSnapshot, type Snapshot, type SnapshotObjects } from './snapshot.ts';

export const now = Date.parse('2026-01-02T00:00:00Z');

/** Its number says which addresses its pods get: `10.244.NUMBER.0/24`. */
export function exampleNode(
  number: number,
  { spec = {}, zone = number % 2 === 0 ? 'b' : 'a' } = {},
): Node {
  const name = `n${number}`;
  const { object } = decode(nodeSchema, {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, uid: name, labels: { [hostnameLabel]: name, [zoneLabel]: zone } },
    spec: { podCIDR: `10.244.${number}.0/24`, podCIDRs: [`10.244.${number}.0/24`], ...spec },
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: `192.0.2.${number}` }],
    },
  });
  return object as Node;
}

export function exampleDeployment(name: string, spec: object = {}, pod: object = {}): Deployment {
  const { object } = decode(deploymentSchema, {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'default', uid: `deployment-${name}`, generation: 1 },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'app:1' }], ...pod },
      },
      ...spec,
    },
  });
  return defaultDeployment(object as Deployment);
}

export function exampleSnapshot(objects: Partial<SnapshotObjects> = {}): Snapshot {
  return makeSnapshot({
    objects: {
      namespaces: [
        {
          kind: 'Namespace',
          apiVersion: 'v1',
          metadata: { name: 'default' },
          spec: {},
          status: {},
        },
      ],
      nodes: [exampleNode(1), exampleNode(2)],
      services: [
        exampleService({ metadata: { uid: 'service-web' }, spec: { selector: { app: 'web' } } }),
      ],
      deployments: [exampleDeployment('web')],
      ...objects,
    },
  });
}
