// Nodes for tests.
import { hostnameLabel } from '../../meta/well-known-labels.ts';
import { decode } from '../../schema/decode.ts';
import { nodeDefinition } from './definition.ts';
import { type Node, nodeSchema } from './types.ts';

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
