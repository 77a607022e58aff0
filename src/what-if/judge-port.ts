// What becomes of connections to one port of a Service, by node: judged by the rules that proxies would have, and by the cluster's DNS for
// headless Services.
import { wireName } from '../dns/wire/names.ts';
import { types } from '../dns/wire/record-types.ts';
import { addressOfFamily } from '../ip/family-address.ts';
import { headlessIP, type Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { isCaptured } from '../proxy/model/service-ports.ts';
import type { Family, Protocol } from '../proxy/model/state.ts';
import type { Entrance } from '../proxy/packets/reference-model.ts';
import type { ClusterSettings } from '../snapshot/cluster-settings.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { answerQuestion } from '../trace/answer-question.ts';
import { type JudgedConnection, judgeConnection, nodesAlike } from '../trace/judge-connection.ts';
import type { TracedMode } from '../trace/node-rules.ts';
import { nodeAddressesOf, resolveSource, type Source } from '../trace/resolve-source.ts';
import { zoneOf } from '../trace/snapshot-zone.ts';
import type { Outcome } from './what-if.ts';

/** One moment of the cluster. */
export type Moment = {
  readonly index: SnapshotIndex;
  /** Of the touched Services alone: for names. */
  readonly named: SnapshotIndex;
  /** Any client of each sort. */
  readonly sources: Readonly<Record<'cluster' | 'outside', Source>>;
};

/** Of all pods and nodes of the cluster, and of all clients outside. */
export function anySources(index: SnapshotIndex, settings: ClusterSettings): Moment['sources'] {
  const any = (kind: 'any-pod' | 'outside'): Source => {
    const resolved = resolveSource(index, { kind }, { settings, namespace: 'default' });
    // Neither names an object, so neither can be missing.
    if ('error' in resolved) throw new Error(resolved.error);
    return resolved.value;
  };
  return { cluster: any('any-pod'), outside: any('outside') };
}

export type JudgeSettings = { readonly settings: ClusterSettings; readonly mode: TracedMode };

/** A port as clients name it; the address may differ between moments. */
export type ClientPort = {
  /** From the cluster, from outside by a load balancer address or external IP, or from outside by a node port. */
  readonly by: 'cluster' | 'address' | 'node-port';
  readonly family: Family;
  readonly protocol: Protocol;
  readonly port: number;
};

export type Judged = {
  readonly outcome: Outcome;
  readonly entrance?: Entrance;
  /** Each gets the same share. */
  readonly endpoints: readonly { readonly ip: string; readonly port: number }[];
  /** Equal for equal results. */
  readonly key: string;
};

/** By node; for all nodes where the node makes no difference. */
export type JudgedPort = (node: string) => Judged;

export type JudgeRequest = {
  /** Absent where the Service does not exist. */
  readonly service: Service | undefined;
  readonly port: ClientPort;
  readonly nodes: readonly string[];
};

export function judgePort(
  moment: Moment,
  { service, port, nodes }: JudgeRequest,
  settings: JudgeSettings,
): JudgedPort {
  if (service === undefined) return () => noService;
  if (port.by === 'cluster' && service.spec.clusterIP === headlessIP) {
    const judged = judgeHeadless(moment, service, { port, domain: settings.settings.domain.value });
    return () => judged;
  }
  const byNode = new Map<string, Judged>();
  const at = { port, nodes: nodesThatDiffer(moment.index, service, { port, nodes }) };
  for (const { judged, like } of judgeAt(moment, service, at, settings)) {
    for (const one of like) byNode.set(one, judged);
  }
  const [first = noService] = byNode.values();
  return (node) => byNode.get(node) ?? first;
}

const noService: Judged = { outcome: 'no-service', endpoints: [], key: 'no-service' };

type PortOptions = { readonly port: ClientPort; readonly domain: string };

function judgeHeadless(
  { named }: Moment,
  { metadata, spec }: Service,
  { port, domain }: PortOptions,
): Judged {
  if (!(spec.ports ?? []).some((one) => isPort(one, port))) return noService;
  const name = wireName(`${metadata.name}.${metadata.namespace}.svc.${domain}`);
  if (name === undefined) return noService;
  const type = port.family === 'IPv4' ? types.A : types.AAAA;
  const { answers } = answerQuestion(zoneOf(named), { name, type }, { domain });
  // A client connects to the port that it knows: nothing translates it.
  const endpoints = answers.map(({ data }) => ({ ip: data, port: port.port }));
  return judgedOf(endpoints.length > 0 ? 'answered' : 'no-such-name', endpoints);
}

const isPort = (
  { port, protocol }: { readonly port: number; readonly protocol?: string },
  wanted: ClientPort,
): boolean => port === wanted.port && (protocol ?? 'TCP') === wanted.protocol;

function judgedOf(outcome: Outcome, endpoints: Judged['endpoints'], entrance?: Entrance): Judged {
  const list = endpoints.map(({ ip, port }) => `${ip} ${port}`).sort();
  return {
    ...{ outcome, endpoints, key: [outcome, ...list].join(',') },
    ...(entrance === undefined ? {} : { entrance }),
  };
}

type Nodes = { readonly port: ClientPort; readonly nodes: readonly string[] };

/** One for all where the code that selects endpoints does not compare with the node: no policy Local for this traffic, and no hints. */
function nodesThatDiffer(
  index: SnapshotIndex,
  { metadata, spec }: Service,
  { port, nodes }: Nodes,
): readonly string[] {
  const policy = port.by === 'cluster' ? spec.internalTrafficPolicy : spec.externalTrafficPolicy;
  const slices = index.slicesOf(metadata.namespace ?? '', metadata.name ?? '');
  const hasHints = slices.some(({ endpoints }) =>
    (endpoints ?? []).some(({ hints }) => hints !== undefined),
  );
  return policy === 'Local' || hasHints ? nodes : nodes.slice(0, 1);
}

type JudgedNodes = { readonly judged: Judged; readonly like: readonly string[] };

function judgeAt(
  { index, sources }: Moment,
  service: Service,
  { port, nodes }: Nodes,
  { settings, mode }: JudgeSettings,
): readonly JudgedNodes[] {
  const { family, protocol, by } = port;
  const key = objectKey(service.metadata);
  return destinationsOf(index, service, { port, nodes }).flatMap(({ like, at, ...destination }) =>
    judgeConnection(
      index,
      { ...destination, family, protocol },
      {
        ...{ settings, mode, nodePortAddresses: settings.nodePortAddresses.value },
        source: { ...sources[by === 'cluster' ? by : 'outside'], nodes: at },
      },
    ).map((one) => ({ judged: resultOf(one, key), like: like ?? one.nodes })),
  );
}

type DestinationAt = {
  readonly address: string;
  readonly port: number;
  readonly at: readonly string[];
  /** The nodes for which this one stands; absent: those of the result. */
  readonly like?: readonly string[];
};

function destinationsOf(
  index: SnapshotIndex,
  service: Service,
  { port: { by, family, port, protocol }, nodes }: Nodes,
): readonly DestinationAt[] {
  const { spec } = service;
  const first = (all: readonly (string | undefined)[]): string | undefined =>
    all.flatMap((one) => addressOfFamily(one ?? '', family) ?? [])[0];
  if (by !== 'node-port') {
    const addresses =
      by === 'cluster' ? [spec.clusterIP, ...(spec.clusterIPs ?? [])] : outsideAddresses(service);
    const address = first(addresses);
    return address === undefined ? [] : [{ address, port, at: nodes }];
  }
  const isServed = (spec.ports ?? []).some(
    (one) => one.nodePort === port && (one.protocol ?? 'TCP') === protocol,
  );
  if (!isServed) return [];
  // Each node has an address of its own: of those that are alike one is enough.
  const groups = nodesAlike(index, nodes, { services: [service], address: '' });
  return groups.flatMap((like) => {
    const [name = ''] = like;
    const node = index.node(name);
    const own = node === undefined ? undefined : first(nodeAddressesOf(node));
    return own === undefined ? [] : [{ address: own, port, at: [name], like }];
  });
}

/** Those of its load balancer first. */
function outsideAddresses({ spec, status }: Service): readonly (string | undefined)[] {
  const balancers = (status.loadBalancer?.ingress ?? []).filter(isCaptured).map(({ ip }) => ip);
  return [...balancers, ...(spec.externalIPs ?? [])];
}

function resultOf({ judgement }: JudgedConnection, key: string): Judged {
  const { verdict, target } = judgement;
  const isOther = target === undefined || `${target.port.namespace}/${target.port.name}` !== key;
  if (isOther) return noService;
  const { entrance } = target;
  switch (verdict.kind) {
    case 'translate':
      return judgedOf('answered', verdict.destinations, entrance);
    case 'reject':
      return judgedOf('refused', [], entrance);
    case 'drop':
      return judgedOf('dropped', [], entrance);
    case 'pass':
      return noService;
  }
}
