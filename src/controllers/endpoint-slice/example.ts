// Builders for tests: nodes, endpoints and stored slices of the service `web`.
import type { Endpoint, EndpointSlice, SlicePort } from '../../kinds/endpoint-slice/types.ts';
import { type Node, nodeSchema } from '../../kinds/node/types.ts';
import { selectingService } from '../../kinds/service/example-backends.ts';
import { zoneLabel } from '../../meta/well-known-labels.ts';
import { decode } from '../../schema/decode.ts';
import { newSlice } from './desired.ts';

type NodeParts = {
  readonly zone?: string;
  readonly cpu?: string;
  readonly ready?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
};

export function exampleNode(
  name: string,
  { zone, cpu, ready = true, labels }: NodeParts = {},
): Node {
  const { object } = decode(nodeSchema, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels, ...(zone === undefined ? {} : { [zoneLabel]: zone }) } },
    status: {
      ...(cpu === undefined ? {} : { allocatable: { cpu } }),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  });
  return object as Node;
}

export function exampleEndpoint(name: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    addresses: [`10.1.0.${name.replace(/\D/g, '') || '1'}`],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
    nodeName: 'n1',
    ...more,
  };
}

/** `count` endpoints, numbered from `first`: p1, p2 and so on. */
export function exampleEndpoints(
  count: number,
  first = 1,
  more: Partial<Endpoint> = {},
): readonly Endpoint[] {
  return Array.from({ length: count }, (_, i) => exampleEndpoint(`p${first + i}`, more));
}

export const httpPort: SlicePort = { name: '', protocol: 'TCP', port: 80 };

type SliceParts = {
  readonly ports?: readonly SlicePort[];
  readonly service?: ReturnType<typeof selectingService>;
  readonly family?: 'IPv4' | 'IPv6';
  readonly metadata?: object;
};

/** A slice as the server stored it. */
export function storedSlice(
  name: string,
  endpoints: readonly Endpoint[],
  { ports = [httpPort], service = selectingService(), family = 'IPv4', metadata }: SliceParts = {},
): EndpointSlice {
  const slice = newSlice({ service, family, ports, endpoints });
  const identity = { name, uid: `uid-${name}`, resourceVersion: '5', generation: 1 };
  return { ...slice, metadata: { ...slice.metadata, ...identity, ...metadata } };
}
