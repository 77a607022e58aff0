// One Service before and after: who gets what share of its connections, and what of it appears or vanishes.
import type { Endpoint } from '../kinds/endpoint-slice/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { headlessIP, type Service } from '../kinds/service/types.ts';
import { zoneLabel } from '../meta/well-known-labels.ts';
import { knownProtocol, servicePorts } from '../proxy/model/service-ports.ts';
import type { Family } from '../proxy/model/state.ts';
import { families } from '../trace/node-rules.ts';
import { type ClientGroup, groupClients } from './group-clients.ts';
import {
  type ClientPort,
  type Judged,
  type JudgeSettings,
  judgePort,
  type Moment,
} from './judge-port.ts';
import type { EndpointShares, View, ZoneShares } from './what-if.ts';

export type Moments = {
  readonly before: Moment;
  readonly meanwhile?: Moment;
  readonly after: Moment;
  readonly pods: PodTurnover;
};

/** By `namespace/name`. A pod of a StatefulSet may be gone and made: the new one has the same name. */
export type PodTurnover = {
  readonly gone: ReadonlyMap<string, Pod>;
  readonly made: ReadonlyMap<string, Pod>;
};

export type CompareOptions = JudgeSettings & {
  /** That are there before and after. */
  readonly nodes: readonly string[];
};

export type ServiceKey = { readonly namespace: string; readonly name: string };

const serviceAt = ({ index }: Moment, { namespace, name }: ServiceKey): Service | undefined =>
  index.service(namespace, name);

/** A view, and what its Service needs to be judged. */
export type ComparedView = {
  readonly view: View;
  readonly by: ClientPort['by'];
  /** Whether some clients are answered afterwards, of this view or of others of the same port. */
  readonly isAnsweredSomewhere: boolean;
};

/** Only those that differ. */
export function compareViews(
  moments: Moments,
  key: ServiceKey,
  options: CompareOptions,
): readonly ComparedView[] {
  const { before, meanwhile, after } = moments;
  const services = [before, after].flatMap((one) => serviceAt(one, key) ?? []);
  const facts = endpointFacts(moments, key);
  const { nodes } = options;
  return clientPorts(services).flatMap((port) => {
    const judge = (moment: Moment) =>
      judgePort(moment, { service: serviceAt(moment, key), port, nodes }, options);
    const sides = {
      before: judge(before),
      after: judge(after),
      ...(meanwhile === undefined ? {} : { meanwhile: judge(meanwhile) }),
    };
    const groups = groupClients(sides, { by: port.by, nodes, index: before.index });
    if (groups.length === 0) return [];
    const isAnsweredSomewhere = nodes.some((node) => sides.after(node).outcome === 'answered');
    const parts = { port, portName: portNameOf(services, port), facts };
    return groups.map((group) => ({
      ...{ view: viewOf(group, parts), by: port.by, isAnsweredSomewhere },
    }));
  });
}

/** Ports of either, from inside and, where they are reachable, from outside. */
function clientPorts(services: readonly Service[]): readonly ClientPort[] {
  const all = services.flatMap((service) => families.flatMap((one) => portsIn(service, one)));
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

function portsIn(service: Service, family: Family): readonly ClientPort[] {
  const { spec } = service;
  if (spec.clusterIP === headlessIP) {
    if (!(spec.ipFamilies ?? [family]).includes(family)) return [];
    return (spec.ports ?? []).flatMap((one) => {
      const protocol = knownProtocol(one.protocol);
      return protocol === undefined ? [] : [{ by: 'cluster', family, protocol, port: one.port }];
    });
  }
  return servicePorts(service, { family, allowsExternalIPs: true }).flatMap(
    (one): readonly ClientPort[] => {
      const { port, protocol, nodePort, externalIPs, loadBalancerIPs } = one;
      const hasAddress = externalIPs.length > 0 || loadBalancerIPs.length > 0;
      const inside = { by: 'cluster', family, protocol, port } as const;
      if (hasAddress) return [inside, { ...inside, by: 'address' } as const];
      return nodePort === undefined
        ? [inside]
        : [inside, { ...inside, by: 'node-port', port: nodePort } as const];
    },
  );
}

function portNameOf(services: readonly Service[], { by, port, protocol }: ClientPort): string {
  const ports = services.flatMap(({ spec }) => spec.ports ?? []);
  const found = ports.find(
    (one) =>
      (by === 'node-port' ? one.nodePort : one.port) === port &&
      (one.protocol ?? 'TCP') === protocol,
  );
  return found?.name ?? '';
}

type ViewParts = {
  readonly port: ClientPort;
  readonly portName: string;
  readonly facts: ReadonlyMap<string, EndpointFact>;
};

function viewOf(
  { clients, before, meanwhile, after }: ClientGroup,
  { port: { family, protocol, port }, portName, facts }: ViewParts,
): View {
  const endpoints = endpointShares(before, after, facts);
  return {
    ...{ family, protocol, port, clients },
    ...(portName === '' ? {} : { portName }),
    before: before.outcome,
    ...(meanwhile === undefined ? {} : { meanwhile: meanwhile.outcome }),
    after: after.outcome,
    endpoints,
    zones: zoneShares(endpoints),
  };
}

function endpointShares(
  before: Judged,
  after: Judged,
  facts: ReadonlyMap<string, EndpointFact>,
): readonly EndpointShares[] {
  const shares = new Map<string, EndpointShares>();
  const none = { before: 0, after: 0 };
  for (const [side, { endpoints }] of [
    ['before', before],
    ['after', after],
  ] as const) {
    for (const { ip, port } of endpoints) {
      const id = `${ip} ${port}`;
      const { isNew = false, ...about } = facts.get(ip) ?? {};
      const known = shares.get(id) ?? { address: ip, port, ...about, ...none, isNew };
      shares.set(id, { ...known, [side]: 1 / endpoints.length });
    }
  }
  return [...shares.values()].sort((a, b) =>
    a.isNew === b.isNew ? compareTexts(textOf(a), textOf(b)) : Number(a.isNew) - Number(b.isNew),
  );
}

const textOf = ({ pod = '', address, port }: EndpointShares): string =>
  `${pod} ${address} ${String(port).padStart(5)}`;

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function zoneShares(endpoints: readonly EndpointShares[]): readonly ZoneShares[] {
  const zones = new Map<string, ZoneShares>();
  for (const { zone, before, after } of endpoints) {
    if (zone === undefined) continue;
    const known = zones.get(zone) ?? { zone, before: 0, after: 0 };
    zones.set(zone, { zone, before: known.before + before, after: known.after + after });
  }
  return [...zones.values()].sort((a, b) => compareTexts(a.zone, b.zone));
}

type EndpointFact = Pick<EndpointShares, 'pod' | 'node' | 'zone'> & { readonly isNew?: boolean };

/** By address. What is there already says more than what is made up. */
function endpointFacts(
  { before, after, pods }: Moments,
  key: ServiceKey,
): ReadonlyMap<string, EndpointFact> {
  const facts = new Map<string, EndpointFact>();
  for (const moment of [after, before]) {
    for (const endpoint of endpointsOf(moment, key)) {
      const [address] = endpoint.addresses ?? [];
      if (address === undefined) continue;
      const pod = podOf(endpoint, key);
      const isNew = moment === after && pod !== undefined && pods.made.has(pod);
      facts.set(address, {
        ...(pod === undefined ? {} : { pod }),
        ...locationOf(moment, endpoint),
        ...(isNew ? { isNew } : {}),
      });
    }
  }
  return facts;
}

export function endpointsOf(
  { index }: Moment,
  { namespace, name }: ServiceKey,
): readonly Endpoint[] {
  return index.slicesOf(namespace, name).flatMap(({ endpoints }) => endpoints ?? []);
}

/** `namespace/name`; undefined for endpoints that are no pods. */
export function podOf({ targetRef }: Endpoint, { namespace }: ServiceKey): string | undefined {
  const isPod = targetRef?.kind === 'Pod' && targetRef.name;
  return isPod ? `${targetRef.namespace || namespace}/${targetRef.name}` : undefined;
}

function locationOf(
  { index }: Moment,
  { nodeName, zone }: Endpoint,
): Pick<EndpointFact, 'node' | 'zone'> {
  const where = zone ?? index.node(nodeName ?? '')?.metadata.labels?.[zoneLabel];
  return { ...(nodeName ? { node: nodeName } : {}), ...(where ? { zone: where } : {}) };
}
