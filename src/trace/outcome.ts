// What becomes of a connection to one address, in one sentence.
import { headlessIP } from '../kinds/service/types.ts';
import type { ServicePort } from '../proxy/model/state.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isRead } from '../snapshot/snapshot.ts';
import type { JudgedConnection } from './judge-connection.ts';
import { type Source, unknownNode } from './resolve-source.ts';
import type { AddressHop, EndpointHop, Outcome } from './trace.ts';

export type OutcomeParts = {
  readonly entrance: AddressHop;
  readonly endpoints: readonly EndpointHop[];
  readonly source: Source;
};

export function outcomeOf(
  index: SnapshotIndex,
  judged: JudgedConnection,
  parts: OutcomeParts,
): Outcome {
  const { judgement } = judged;
  const { target } = judgement;
  if (target === undefined) return withoutService(index, judged, parts);
  const unknown = unknownFor(index, judged, target.port);
  if (unknown !== undefined) return { kind: 'unknown', sentence: unknown };
  const service = `Service ${target.port.namespace}/${target.port.name}`;
  switch (judgement.verdict.kind) {
    case 'translate':
      return { kind: 'answered', sentence: answeredSentence(parts.endpoints) };
    case 'reject':
      return { kind: 'refused', sentence: `Refused at once: ${lackOf(index, judged, parts)}` };
    case 'drop':
      return judgement.why === 'source-ranges'
        ? {
            kind: 'dropped',
            sentence: `Dropped without an answer: ${judged.packet.source} is in no source range of ${service}`,
          }
        : {
            kind: 'dropped',
            sentence: `Dropped without an answer: ${lackOf(index, judged, parts)}`,
          };
    case 'pass':
      return { kind: 'not-for-a-service', sentence: parts.entrance.sentence, otherwise: 'dropped' };
  }
}

/** What was not read, where it decides. */
function unknownFor(
  { snapshot }: SnapshotIndex,
  { judgement, node, rules }: JudgedConnection,
  { namespace, name, internalPolicy, externalPolicy }: ServicePort,
): string | undefined {
  if (!isRead(snapshot, 'endpointSlices', namespace)) {
    return `Not known: the endpoint slices of Service ${namespace}/${name} cannot be read`;
  }
  if (node !== unknownNode || judgement.target === undefined) return undefined;
  const { cluster } = rules.selectionOf(judgement.target.port);
  const isByNode =
    judgement.route?.set === 'local' ||
    (judgement.route?.policy === 'internal' ? internalPolicy : externalPolicy) === 'Local' ||
    cluster?.why === 'zone-unknown' ||
    cluster?.why === 'hinted-elsewhere';
  return isByNode && rules.state.ports.size > 0
    ? `Not known: it depends on the node, and nodes cannot be read`
    : undefined;
}

function answeredSentence(endpoints: readonly EndpointHop[]): string {
  const used = endpoints.filter(({ chance }) => chance > 0);
  const [only, ...others] = used;
  if (only === undefined) return 'Answered';
  const name = (one: EndpointHop): string =>
    one.pod === undefined ? one.address : `pod ${one.pod}`;
  if (others.length === 0) return `Answered by ${name(only)}, at port ${only.port}`;
  const ports = [...new Set(used.map(({ port }) => port))];
  const at = ports.length === 1 ? `, at port ${ports[0]}` : '';
  return `Answered by one of ${used.length} endpoints${at}, each with a chance of ${percent(only.chance)}`;
}

export function percent(chance: number): string {
  const value = chance * 100;
  return `${value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}

/** Why there is no endpoint to go to. */
function lackOf(
  index: SnapshotIndex,
  { judgement, node }: JudgedConnection,
  { endpoints }: OutcomeParts,
): string {
  const { target, route } = judgement;
  if (target === undefined) return '';
  const { namespace, name, portName, protocol } = target.port;
  const service = `Service ${namespace}/${name}`;
  if (judgement.why === 'no-endpoint-on-node') {
    const policy = route?.policy === 'external' ? 'external' : 'internal';
    const elsewhere = endpoints.filter(({ ready }) => ready).length;
    return `${policy}TrafficPolicy Local of ${service} allows endpoints on node ${node} only, which has none (${elsewhere} ready elsewhere)`;
  }
  if (endpoints.length > 0) {
    const states = [
      counted(endpoints.filter(({ terminating }) => terminating).length, 'terminating'),
      counted(
        endpoints.filter(({ ready, terminating }) => !ready && !terminating).length,
        'not ready',
      ),
    ].filter((text) => text !== '');
    return `no endpoint of ${service} is ready (${states.join(', ')})`;
  }
  const slices = index
    .slicesOf(namespace, name)
    .filter(({ endpoints }) => (endpoints ?? []).length > 0);
  if (slices.length > 0) {
    const ports = slices
      .flatMap((one) => one.ports ?? [])
      .map((one) => `${one.name || 'without a name'} ${one.port ?? ''}/${one.protocol ?? 'TCP'}`);
    return `${service} has endpoints, but none for its port ${portName === '' ? 'without a name' : portName}/${protocol} (their slices have ${[...new Set(ports)].join(', ') || 'no ports'})`;
  }
  return `${service} has no endpoints${selectorNote(index, namespace, name)}`;
}

const counted = (count: number, what: string): string => (count === 0 ? '' : `${count} ${what}`);

function selectorNote(index: SnapshotIndex, namespace: string, name: string): string {
  const selector = index.service(namespace, name)?.spec.selector;
  if (selector === undefined || Object.keys(selector).length === 0) {
    return ': it has no selector, and no one else made a slice for it';
  }
  if (!isRead(index.snapshot, 'pods', namespace)) return '';
  const text = Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const pods = index.podsWith(namespace, selector).length;
  return pods === 0
    ? `: no pod has the labels ${text}`
    : `, although ${pods} pods have the labels ${text}`;
}

/** Of an address and port that no service port has. */
function withoutService(
  { snapshot, podsAt, service }: SnapshotIndex,
  { judgement, packet }: JudgedConnection,
  { entrance, source }: OutcomeParts,
): Outcome {
  const { sentence, kind } = entrance;
  const { verdict } = judgement;
  if (kind === 'service-range' && !isRead(snapshot, 'services')) {
    return { kind: 'unknown', sentence: 'Not known: the Services cannot be read' };
  }
  if (verdict.kind === 'reject')
    return { kind: 'refused', sentence: `Refused at once: ${sentence}` };
  if (verdict.kind === 'drop') {
    return { kind: 'dropped', sentence: `Dropped without an answer: ${sentence}` };
  }
  switch (kind) {
    case 'health-check':
    case 'host-port':
      return { kind: 'answered', sentence: `Answered: ${sentence}` };
    case 'pod':
      return podOutcome(podsAt(packet.destination), sentence, source);
    case 'service-range':
    case 'cluster-ip':
      return { kind: 'dropped', sentence: `Dropped without an answer: ${sentence}` };
    case 'node':
      return {
        ...{ kind: 'not-for-a-service', otherwise: 'refused' },
        sentence: `Not for a Service: ${sentence}; refused, unless a program of the node listens there`,
      };
    default: {
      const [namespace = '', name = ''] = (entrance.service ?? '').split('/');
      const isHeadless = service(namespace, name)?.spec.clusterIP === headlessIP;
      return {
        ...{ kind: 'not-for-a-service', otherwise: 'dropped' },
        sentence: isHeadless ? sentence : `Not for a Service: ${sentence}`,
      };
    }
  }
}

function podOutcome(
  pods: readonly { readonly status: { readonly phase?: string } }[],
  sentence: string,
  { kind }: Source,
): Outcome {
  const isFinished = pods.every(({ status }) =>
    ['Succeeded', 'Failed'].includes(status.phase ?? ''),
  );
  if (isFinished) {
    return { kind: 'dropped', sentence: `Dropped without an answer: ${sentence}, which has ended` };
  }
  return kind === 'outside'
    ? {
        ...{ kind: 'not-for-a-service', otherwise: 'dropped' },
        sentence: `Not for a Service: ${sentence}, which is reached from outside only if the network routes pod ranges`,
      }
    : { kind: 'answered', sentence: `Answered without a Service: ${sentence}` };
}
