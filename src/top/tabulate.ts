// The table: what nodes measured, with what the objects of the cluster say about it.

import type { MeasuredNode } from '../kinds/part/traffic-list.ts';
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { explainProxying, knownProtocol } from '../proxy/model/service-ports.ts';
import type { Family } from '../proxy/model/state.ts';
import { parseTime } from '../schema/time.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { RulesOptions } from '../trace/node-rules.ts';
import type { SkewFacts } from './causes.ts';
import { type Comparison, compareShares } from './compare-shares.ts';
import { endpointRows } from './endpoint-rows.ts';
import {
  type CountedPort,
  type CountedRow,
  mergeTraffic,
  ratesOf,
  sumOfRates,
} from './merge-traffic.ts';
import {
  type NodeChoices,
  nodeChoices,
  type PortChoice,
  type PortName,
  usableEndpoints,
} from './node-choices.ts';
import { portSkew } from './port-skew.ts';
import { type SliceEndpoint, sliceEndpoints } from './slice-endpoints.ts';
import { compareServices, type SortKey } from './sort-services.ts';
import type { NodeReport, PortTraffic, ServiceTraffic, Skew, TopServices } from './top-services.ts';

export type TableOptions = RulesOptions & {
  /** Absent: of all namespaces. */
  readonly namespace?: string;
  /** Absent: all Services. */
  readonly name?: string;
  readonly sortBy: SortKey;
  readonly nowMs: number;
};

type Work = {
  readonly index: SnapshotIndex;
  readonly choices: NodeChoices;
  readonly nowMs: number;
  readonly isOneService: boolean;
  /** Nodes that left rows out. */
  readonly cutNodes: ReadonlySet<string>;
};

export function tabulate(
  nodes: readonly MeasuredNode[],
  index: SnapshotIndex,
  options: TableOptions,
): TopServices {
  const services = servicesOf(index, options);
  const counted = mergeTraffic(nodes);
  const byNode = servicesByNode(services, counted);
  const choices = nodeChoices(index, { services, byNode }, options);
  const cutNodes = new Set(
    nodes.flatMap((one) => ('measured' in one && one.measured.omittedRows > 0 ? [one.node] : [])),
  );
  const isOneService = options.name !== undefined;
  const work: Work = { index, choices, nowMs: options.nowMs, isOneService, cutNodes };
  const known = services.map((service) => {
    const { namespace = '', name = '' } = service.metadata;
    return serviceTraffic(work, service, counted.get(`${namespace}/${name}`) ?? []);
  });
  const names = new Set(known.map(({ namespace, name }) => `${namespace}/${name}`));
  // Services that may not be read, or are gone by now.
  const others = [...counted].flatMap(([key, ports]) =>
    names.has(key) || !isInScope(ports, options) ? [] : unknownService(ports, index),
  );
  return {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'ServiceTraffic' },
    time: new Date(options.nowMs).toISOString(),
    nodes: nodes.map(nodeReport),
    services: [...known, ...others].sort(compareServices(options.sortBy)),
    unread: index.snapshot.unread,
  };
}

function servicesByNode(
  services: readonly Service[],
  counted: ReadonlyMap<string, readonly CountedPort[]>,
): ReadonlyMap<string, readonly Service[]> {
  const byNode = new Map<string, Service[]>();
  for (const service of services) {
    const ports = counted.get(objectKey(service.metadata)) ?? [];
    const nodes = new Set(ports.flatMap(({ rows }) => rows.map(({ node }) => node)));
    for (const node of nodes) {
      const own = byNode.get(node);
      if (own === undefined) byNode.set(node, [service]);
      else own.push(service);
    }
  }
  return byNode;
}

function nodeReport(one: MeasuredNode): NodeReport {
  if (!('measured' in one)) return one;
  const { mode, scheduler, intervalMs, ageMs, bytesCounted, omittedRows, isPartial } = one.measured;
  return {
    ...{ node: one.node, mode, ...(scheduler === undefined ? {} : { scheduler }) },
    ...{ intervalMilliseconds: intervalMs, ageMilliseconds: ageMs },
    ...{ bytesCounted, omittedRows, isPartial },
  };
}

/** Those that proxies have rules for. */
function servicesOf(
  { snapshot }: SnapshotIndex,
  { namespace, name }: TableOptions,
): readonly Service[] {
  return snapshot.objects.services.filter(
    (service) =>
      (namespace === undefined || service.metadata.namespace === namespace) &&
      (name === undefined || service.metadata.name === name) &&
      families.some((family) => !('why' in explainProxying(service, family))),
  );
}

const families = ['IPv4', 'IPv6'] as const satisfies readonly Family[];

function isInScope(
  [port]: readonly CountedPort[],
  { namespace, name }: Pick<TableOptions, 'namespace' | 'name'>,
): boolean {
  return (
    (namespace === undefined || port?.namespace === namespace) &&
    (name === undefined || port?.name === name)
  );
}

function serviceTraffic(
  work: Work,
  service: Service,
  counted: readonly CountedPort[],
): ServiceTraffic {
  const { namespace = '', name = '' } = service.metadata;
  const isShown = counted.length > 0 || work.isOneService;
  const about = isShown ? sliceEndpoints(work.index, service) : new Map<string, SliceEndpoint>();
  const of = { service, counted, about };

  const ports = portsOf(service).map((port) => portTraffic(work, port, of));
  return {
    ...{ namespace, name, ...sumOfRates(ports) },
    usableEndpoints: Math.max(0, ...ports.map(({ usableEndpoints }) => usableEndpoints)),
    skew: worstSkew(ports),
    ports,
  };
}

type OfService = {
  readonly service: Service;
  readonly counted: readonly CountedPort[];
  readonly about: ReadonlyMap<string, SliceEndpoint>;
};

type PortShape = Pick<CountedPort, 'portName' | 'family' | 'protocol' | 'port'>;

function portsOf(service: Service): readonly PortShape[] {
  const own = families.filter((family) => !('why' in explainProxying(service, family)));
  return (service.spec.ports ?? []).flatMap(({ name = '', protocol: text, port }) => {
    const protocol = knownProtocol(text);
    if (protocol === undefined) return [];
    return own.map((family) => ({ portName: name, family, protocol, port }));
  });
}

function portTraffic(work: Work, shape: PortShape, of: OfService): PortTraffic {
  const { service, counted, about } = of;
  const { portName, family, protocol, port } = shape;
  const rows =
    counted.find(
      (one) => one.portName === portName && one.family === family && one.protocol === protocol,
    )?.rows ?? [];
  const name: PortName = { service, family, portName, protocol };
  const { choices, index } = work;
  const choice = choices.anywhere(name);
  if (rows.length === 0 && !work.isOneService) return idlePort(shape, choice);
  const comparison =
    choice === undefined
      ? undefined
      : compareShares(rows, choice, (node) => choices.choiceAt(node, name));
  const endpoints = endpointRows({ rows, comparison, about, index });
  const unknown =
    rows.length === 0 ? undefined : (choices.unknownBecause(name) ?? cutBecause(work, rows));
  return {
    ...{ portName, family, protocol, port, ...ratesOf(rows) },
    usableEndpoints: comparison?.usable.length ?? 0,
    skew:
      unknown === undefined && comparison !== undefined
        ? portSkew(skewFacts(work, { rows, comparison, about, choice }))
        : unknownSkew(rows.length === 0, unknown ?? 'another Service has its address'),
    endpoints:
      unknown === undefined ? endpoints : endpoints.map(({ share: _unknown, ...rest }) => rest),
  };
}

/** Of which there may be thousands: their endpoints are shown where one Service is requested. */
function idlePort(shape: PortShape, choice: PortChoice | undefined): PortTraffic {
  const usable = choice === undefined ? 0 : usableEndpoints(choice).length;
  const skew = unknownSkew(true, '');
  return { ...shape, ...ratesOf([]), usableEndpoints: usable, skew, endpoints: [] };
}

/** Endpoints that are missing would look like endpoints without connections. */
function cutBecause({ cutNodes }: Work, rows: readonly CountedRow[]): string | undefined {
  return rows.some(({ node }) => cutNodes.has(node))
    ? 'answers of nodes were cut, those about one Service are longer'
    : undefined;
}

const unknownSkew = (isIdle: boolean, why: string): Skew =>
  isIdle
    ? { verdict: 'no-connections', causes: [], sentence: 'no connections' }
    : { verdict: 'unknown', causes: [], sentence: `not known: ${why}` };

type Facts = Pick<SkewFacts, 'rows'> & {
  readonly comparison: Comparison;
  readonly choice: PortChoice | undefined;
  readonly about: ReadonlyMap<string, SliceEndpoint>;
};

function skewFacts({ index, nowMs }: Work, { rows, comparison, choice, about }: Facts): SkewFacts {
  const affinitySeconds = choice?.affinitySeconds;
  return {
    ...{ comparison, rows },
    ...(affinitySeconds === undefined ? {} : { affinitySeconds }),
    nameOf(key) {
      const pod = about.get(key)?.pod;
      return pod === undefined ? key.replace(' ', ':') : `pod ${pod}`;
    },
    readyForMs(key) {
      const { namespace, pod } = about.get(key) ?? {};
      if (namespace === undefined || pod === undefined) return undefined;
      const ready = index
        .pod(namespace, pod)
        ?.status.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
      const since = parseTime(ready?.lastTransitionTime ?? '');
      return since === undefined ? undefined : Math.max(0, nowMs - since);
    },
  };
}

const rank = [
  ...(['skewed', 'unknown', 'too-few', 'even'] as const),
  ...(['one-endpoint', 'no-connections'] as const),
];

function worstSkew(ports: readonly Pick<PortTraffic, 'skew'>[]): Skew {
  const [first] = ports
    .map(({ skew }) => skew)
    .sort(
      (a, b) =>
        rank.indexOf(a.verdict) - rank.indexOf(b.verdict) || (b.factor ?? 0) - (a.factor ?? 0),
    );
  return first ?? unknownSkew(true, '');
}

/** Of which there is nothing but what nodes counted. */
function unknownService(
  counted: readonly CountedPort[],
  index: SnapshotIndex,
): readonly ServiceTraffic[] {
  const [first] = counted;
  if (first === undefined) return [];
  const ports = counted.map(({ rows, portName, family, protocol, port }) => ({
    ...{ portName, family, protocol, port, ...ratesOf(rows) },
    usableEndpoints: 0,
    skew: unknownSkew(false, 'the Service cannot be read'),
    endpoints: endpointRows({ rows, about: new Map(), index }),
  }));
  const { namespace, name } = first;
  const skew = worstSkew(ports);
  return [{ namespace, name, ...sumOfRates(ports), usableEndpoints: 0, skew, ports }];
}
