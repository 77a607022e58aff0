// Builders for tests.
import type { Node } from '../../kinds/node/types.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { namespaceNameLabel } from '../../meta/well-known-labels.ts';
import type { Cluster, NodeState } from './cluster.ts';

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
