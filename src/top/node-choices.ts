// Which endpoints the proxies of nodes choose from, and why: by the proxy's own code over the snapshot.
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { zoneLabel } from '../meta/well-known-labels.ts';
import type { EndpointEntry } from '../proxy/model/endpoints.ts';
import { type ChoiceReason, explainSelection } from '../proxy/model/select-endpoints.ts';
import type { Endpoint, Family, ServicePort } from '../proxy/model/state.ts';
import { portId } from '../proxy/model/trim-objects.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isRead } from '../snapshot/snapshot.ts';
import { type NodeRules, nodeRules, type RulesOptions } from '../trace/node-rules.ts';
import { unknownNode } from '../trace/resolve-source.ts';

export type PortChoice = {
  readonly cluster: readonly Endpoint[];
  readonly local: readonly Endpoint[];
  /** Of the endpoints under policy Cluster. */
  readonly why?: ChoiceReason;
  readonly affinitySeconds?: number;
  readonly entries: readonly EndpointEntry[];
};

/** All that new connections may go to from somewhere: what a Service without policies and hints would use. */
export function usableEndpoints({ entries }: PortChoice): readonly EndpointEntry[] {
  return explainSelection(entries, everywhere, nowhere).cluster?.entries ?? [];
}

const everywhere = {
  internalPolicy: 'Cluster',
  externalPolicy: 'Cluster',
  externalIPs: [],
  loadBalancerIPs: [],
} as const;
const nowhere = { nodeName: unknownNode, zone: '' };

export type PortName = {
  readonly service: Service;
  readonly family: Family;
  readonly portName: string;
  readonly protocol: ServicePort['protocol'];
};

export type NodeChoices = {
  /** Undefined: the node has no rules for the port. */
  readonly choiceAt: (node: string, port: PortName) => PortChoice | undefined;
  /** Any node: for what all of them agree about. */
  readonly anywhere: (port: PortName) => PortChoice | undefined;
  /** Why it cannot be said what nodes choose from. */
  readonly unknownBecause: (port: PortName) => string | undefined;
};

/** Rules are computed once for a Service, family and class of nodes: those without endpoints, of one zone, are alike. */
export function nodeChoices(
  index: SnapshotIndex,
  services: readonly Service[],
  options: RulesOptions,
): NodeChoices {
  const rules = new Map<string, NodeRules>();
  const all = new Map<Family, NodeRules>();
  const classes = createNodeClasses(index);
  const rulesOf = (node: string, { service, family }: PortName): NodeRules => {
    const { namespace, name } = service.metadata;
    const nodeName = classes(service, node);
    const key = `${nodeName} ${family} ${namespace}/${name}`;
    const known = rules.get(key);
    if (known !== undefined) return known;
    const made = nodeRules(index, { nodeName, family, services: [service] }, options);
    rules.set(key, made);
    return made;
  };
  const anywhere: NodeChoices['anywhere'] = (port) => {
    const { family } = port;
    const made =
      all.get(family) ?? nodeRules(index, { nodeName: unknownNode, family, services }, options);
    all.set(family, made);
    return choiceOf(made, port);
  };
  return {
    choiceAt: (node, port) => choiceOf(rulesOf(node, port), port),
    anywhere,
    unknownBecause(port) {
      const { snapshot } = index;
      const { namespace } = port.service.metadata;
      if (!isRead(snapshot, 'endpointSlices', namespace)) return 'endpoint slices cannot be read';
      if (isRead(snapshot, 'nodes')) return undefined;
      const entries = anywhere(port)?.entries ?? [];
      const areByZone = entries.some(({ facts }) => facts.zoneHints.length > 0);
      return areByZone ? 'hints are by zone, and nodes cannot be read' : undefined;
    },
  };
}

function choiceOf(
  rules: NodeRules,
  { service, portName, protocol }: PortName,
): PortChoice | undefined {
  const port = rules.state.ports.get(
    `${objectKey(service.metadata)}:${portId(portName, protocol)}`,
  );
  if (port === undefined) return undefined;
  const why = rules.selectionOf(port).cluster?.why;
  return {
    cluster: port.clusterEndpoints,
    local: port.localEndpoints,
    ...(why === undefined ? {} : { why }),
    ...(port.affinitySeconds === undefined ? {} : { affinitySeconds: port.affinitySeconds }),
    entries: rules.entriesOf(port),
  };
}

/** Returns the node, or the first one that is like it to the rules of the Service. */
function createNodeClasses(index: SnapshotIndex): (service: Service, node: string) => string {
  const named = new WeakMap<Service, ReadonlySet<string>>();
  const namesOf = (service: Service): ReadonlySet<string> => {
    const known = named.get(service);
    if (known !== undefined) return known;
    const { namespace = '', name = '' } = service.metadata;
    const names = index
      .slicesOf(namespace, name)
      .flatMap(({ endpoints }) =>
        (endpoints ?? []).flatMap(({ nodeName = '', hints }) => [
          nodeName,
          ...(hints?.forNodes ?? []).map((one) => one.name),
        ]),
      );
    const made = new Set(names);
    named.set(service, made);
    return made;
  };
  const ofZone = new Map<string, string>();
  return (service, node) => {
    if (namesOf(service).has(node)) return node;
    const zone = index.node(node)?.metadata.labels?.[zoneLabel] ?? '';
    const first = ofZone.get(zone);
    if (first !== undefined && !namesOf(service).has(first)) return first;
    if (first === undefined) ofZone.set(zone, node);
    return node;
  };
}
