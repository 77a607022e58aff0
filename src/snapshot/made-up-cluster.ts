// What manifests leave to the cluster that they are for: its nodes, its namespaces, its range of Service addresses, its load balancers.

import type { Namespace } from '../kinds/namespace/types.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { KubeObject } from '../meta/object.ts';
import {
  hostnameLabel,
  namespaceNameLabel,
  osLabel,
  zoneLabel,
} from '../meta/well-known-labels.ts';
import { decode } from '../schema/decode.ts';
import { formatTime } from '../schema/time.ts';
import { madeUid } from './made-names.ts';

const zones = ['zone-a', 'zone-b'];
/** Two in the first zone, so that zones differ in size. */
const nodeNames = ['node-a1', 'node-a2', 'node-b1'];
const zoneOf = (index: number): string => zones[index < 2 ? 0 : index % zones.length] ?? '';

/** And the nodes that pods name. */
export function madeUpNodes(pods: readonly Pod[], now: number): readonly Node[] {
  const named = pods.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  return [...new Set([...nodeNames, ...named])].map((name, index) => madeUpNode(name, index, now));
}

/** A node that says nothing of its state is taken for ready: manifests of nodes rarely have one. */
export function readyUnlessReported(node: Node): Node {
  if (node.status.conditions !== undefined) return node;
  return { ...node, status: { ...node.status, conditions: [isReady] } };
}

const isReady = {
  type: 'Ready',
  status: 'True',
  lastHeartbeatTime: null,
  lastTransitionTime: null,
  reason: 'KubeletReady',
} as const;

function madeUpNode(name: string, index: number, now: number): Node {
  // A range of 16384 addresses each, then smaller ones in the next network.
  const ranges = [
    index < 4 ? `10.244.${index * 64}.0/18` : `10.245.${index % 256}.0/24`,
    `fd00:10:244:${index.toString(16)}::/64`,
  ];
  const { object } = decode(nodeDefinition.schema, {
    kind: nodeDefinition.kind,
    apiVersion: 'v1',
    metadata: {
      name,
      uid: madeUid('Node', name),
      creationTimestamp: formatTime(now),
      labels: { [hostnameLabel]: name, [zoneLabel]: zoneOf(index), [osLabel]: 'linux' },
    },
    spec: { podCIDR: ranges[0], podCIDRs: ranges },
    status: {
      allocatable: { cpu: '16', memory: '64Gi' },
      conditions: [isReady],
      addresses: [
        { type: 'InternalIP', address: `192.0.2.${(index % 250) + 1}` },
        { type: 'InternalIP', address: `2001:db8::${(index + 1).toString(16)}` },
        { type: 'Hostname', address: name },
      ],
    },
  });
  return object as Node;
}

/** Those that objects are in, and that are not among the objects. */
export function madeUpNamespaces(
  objects: readonly KubeObject[],
  present: readonly Namespace[],
  now: number,
): readonly Namespace[] {
  const known = new Set(present.map(({ metadata }) => metadata.name));
  const named = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  return [...named]
    .filter((name) => !known.has(name))
    .map((name) => ({
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: madeUid('Namespace', name),
        creationTimestamp: formatTime(now),
        labels: { [namespaceNameLabel]: name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }));
}

/** RFC 5737: addresses for documents. */
const balancerAddress = (number: number): string => `203.0.113.${(number % 254) + 1}`;

/** Services of type LoadBalancer get an address, as from a cloud. */
export function withBalancers(services: readonly Service[]): readonly Service[] {
  let count = 0;
  return services.map((service) => {
    const { spec, status } = service;
    if (spec.type !== 'LoadBalancer' || status.loadBalancer.ingress !== undefined) return service;
    const ingress = [{ ip: spec.loadBalancerIP || balancerAddress(count), ipMode: 'VIP' }];
    count += 1;
    return { ...service, status: { ...status, loadBalancer: { ingress } } };
  });
}
