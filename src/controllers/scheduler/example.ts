// Builders for tests.
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { type Node, nodeSchema } from '../../kinds/node/types.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { hostnameLabel, namespaceNameLabel } from '../../meta/well-known-labels.ts';
import { decode } from '../../schema/decode.ts';
import type { Cluster, NodeState } from './cluster.ts';

type NodeExample = { readonly labels?: object; readonly spec?: object; readonly status?: object };

/** A ready node with two processors. */
export function nodeNamed(name: string, { labels, spec, status }: NodeExample = {}): Node {
  const { object } = decode(nodeSchema, {
    kind: nodeDefinition.kind,
    apiVersion: 'v1',
    metadata: { name, labels: { [hostnameLabel]: name, ...labels } },
    spec: spec ?? {},
    status: {
      allocatable: { cpu: '2', memory: '4Gi', pods: '10' },
      conditions: [{ type: 'Ready', status: 'True' }],
      ...status,
    },
  });
  return object as Node;
}

export const nodeState = (node: Node, ...pods: readonly Pod[]): NodeState => ({ node, pods });

export const clusterOf = (...nodes: readonly NodeState[]): Cluster => ({
  nodes,
  namespaceLabels: (name) => ({ [namespaceNameLabel]: name }),
});

export function podNamed(name: string, spec: object = {}, metadata: ObjectMeta = {}): Pod {
  return examplePod({ metadata: { name, labels: { app: 'web' }, ...metadata }, spec });
}

export const requesting = (requests: object): object => ({
  containers: [{ name: 'c', image: 'i', resources: { requests } }],
});
