// Which endpoints the proxies of nodes choose from, and why: by the proxy's own code over the snapshot.
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
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

export type ChoiceRequest = {
  /** Of which the choices of any node may be wanted. */
  readonly services: readonly Service[];
  /** By node, those of which its own choices may be wanted. */
  readonly byNode: ReadonlyMap<string, readonly Service[]>;
};

/** The rules of a node are computed once, when they are first needed. */
export function nodeChoices(
  index: SnapshotIndex,
  { services, byNode }: ChoiceRequest,
  options: RulesOptions,
): NodeChoices {
  const rules = new Map<string, NodeRules>();
  const rulesAt = (nodeName: string, family: Family, of: readonly Service[]): NodeRules => {
    const key = `${nodeName} ${family}`;
    const known = rules.get(key);
    if (known !== undefined) return known;
    const made = nodeRules(index, { nodeName, family, services: of }, options);
    rules.set(key, made);
    return made;
  };
  const anywhere: NodeChoices['anywhere'] = (port) =>
    choiceOf(rulesAt(unknownNode, port.family, services), port);
  return {
    choiceAt: (node, port) => choiceOf(rulesAt(node, port.family, byNode.get(node) ?? []), port),
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
