// The verdict on a connection: over all addresses that the client tries, and for all nodes at which it may start.
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { Found } from './find-destinations.ts';
import { whyMissing } from './missing-name.ts';
import { lastAlias } from './name-hop.ts';
import { type Source, unknownNode } from './resolve-source.ts';
import type { NameHop, Outcome, OutcomeKind, Path, TraceVerdict } from './trace.ts';

export type VerdictParts = {
  readonly source: Source;
  readonly paths: readonly Path[];
  readonly found: Found;
};

export function verdictOf(
  index: SnapshotIndex,
  { source, paths, found }: VerdictParts,
): TraceVerdict {
  const { name } = found;
  if (paths.length === 0) {
    return name === undefined || name.outcome === 'found'
      ? noAddress(found, source)
      : nameVerdict(index, name, source);
  }
  const nodes = [...new Set(paths.flatMap((path) => path.nodes))].sort();
  const byNode = nodes.map((node) => ({
    node,
    outcome: inOrder(paths.filter((path) => path.nodes.includes(node))),
  }));
  const groups = new Map<string, { readonly outcome: Outcome; readonly nodes: string[] }>();
  for (const { node, outcome } of byNode) {
    const key = JSON.stringify(outcome);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { outcome, nodes: [node] });
    else group.nodes.push(node);
  }
  const [only, ...others] = groups.values();
  if (only === undefined) return inOrder(paths);
  return others.length === 0 ? only.outcome : different([only, ...others], source);
}

function noAddress({ why, name }: Found, { sentence }: Source): TraceVerdict {
  if (why !== undefined) return { kind: 'not-for-a-service', sentence: why, otherwise: 'dropped' };
  const addresses = name?.used?.addresses.join(', ') ?? '';
  return {
    kind: 'dropped',
    sentence:
      addresses === ''
        ? 'There is no address to connect to'
        : `${sentence} has no address of the family of ${addresses}`,
  };
}

function nameVerdict(index: SnapshotIndex, hop: NameHop, source: Source): TraceVerdict {
  const alias = lastAlias(hop.queries);
  const elsewhere = whyMissing(index, hop.name, source);
  switch (hop.outcome) {
    case 'missing':
      return { kind: 'no-such-name', sentence: `No such name: ${hop.name}${elsewhere}` };
    case 'unknown':
      return { kind: 'unknown', sentence: `Not known: ${hop.sentence}` };
    default:
      if (isOfNodeOnly(index, hop, source)) {
        return {
          kind: 'no-such-name',
          sentence: `No such name: ${hop.name}, as the pod uses the resolver of its node (${hop.resolver.source}), which does not know names of the cluster`,
        };
      }
      // A single label is no name of the Internet.
      if (
        source.usesClusterDns &&
        alias === undefined &&
        !hop.name.replace(/\.$/, '').includes('.')
      ) {
        return { kind: 'no-such-name', sentence: `No such name: ${hop.name}${elsewhere}` };
      }
      return (
        missingInNamespace(index, hop, elsewhere) ?? {
          kind: 'not-for-a-service',
          sentence: `Not for a Service: ${hop.sentence}`,
        }
      );
  }
}

/** A name of the cluster, as people write it, in a pod that does not use the DNS of the cluster. */
function isOfNodeOnly(
  index: SnapshotIndex,
  { name, outcome }: NameHop,
  { kind, usesClusterDns }: Source,
): boolean {
  if (kind !== 'pod' || usesClusterDns || outcome !== 'outside') return false;
  const [, second, third] = name.replace(/\.$/, '').split('.');
  return (
    second === undefined ||
    ((third === undefined || third === 'svc') && index.namespace(second) !== undefined)
  );
}

/** `web.shop` where there is a namespace `shop`: meant for the cluster. */
function missingInNamespace(
  index: SnapshotIndex,
  { name }: NameHop,
  elsewhere: string,
): TraceVerdict | undefined {
  const [service = '', namespace = '', ...more] = name.replace(/\.$/, '').split('.');
  if (index.namespace(namespace) === undefined || (more.length > 0 && more[0] !== 'svc')) {
    return undefined;
  }
  return {
    kind: 'no-such-name',
    sentence:
      index.service(namespace, service) === undefined
        ? `No such name: ${name}, as there is no Service "${service}" in namespace "${namespace}"${elsewhere}`
        : `No such name: ${name}${elsewhere}`,
  };
}

/** The client tries one address after the other until one answers. */
function inOrder(paths: readonly Path[]): Outcome {
  const [first] = paths;
  if (first === undefined) return { kind: 'unknown', sentence: 'Not known' };
  const answered = paths.find(({ outcome }) => outcome.kind === 'answered');
  if (answered === undefined) return first.outcome;
  if (answered === first) {
    const failing = paths.filter(
      ({ outcome, family }) => outcome.kind !== 'answered' && family !== first.family,
    );
    const [other] = failing;
    return other === undefined
      ? first.outcome
      : {
          ...first.outcome,
          sentence: `${first.outcome.sentence} over ${first.family}; over ${other.family}: ${becomes(other.outcome)}`,
        };
  }
  return {
    kind: 'answered',
    sentence: `${answered.outcome.sentence} at ${answered.address}, after ${first.address} is tried first: ${becomes(first.outcome)}`,
  };
}

const results: Readonly<Record<OutcomeKind, string>> = {
  answered: 'answered',
  refused: 'refused',
  dropped: 'no answer, so that clients wait',
  'no-such-name': 'no such name',
  'not-for-a-service': 'not for a Service',
  unknown: 'not known',
};

/** As an aside of another outcome. */
const becomes = ({ kind, otherwise }: Outcome): string => results[otherwise ?? kind];

/** The worst counts: a verdict holds for all nodes. */
const worstFirst: readonly OutcomeKind[] = [
  'dropped',
  'refused',
  'unknown',
  'no-such-name',
  'not-for-a-service',
  'answered',
];

type Group = { readonly outcome: Outcome; readonly nodes: readonly string[] };

function different(groups: readonly Group[], { kind }: Source): TraceVerdict {
  const kinds = new Set(groups.map(({ outcome }) => outcome.kind));
  const worst = worstFirst.find((one) => kinds.has(one)) ?? 'unknown';
  const word = kind === 'outside' ? 'at' : 'from';
  const parts = groups.map(
    ({ nodes, outcome }) => `${word} ${nodesText(nodes)}: ${outcome.sentence}`,
  );
  const text = parts.join('; ');
  return { kind: worst, sentence: text.charAt(0).toUpperCase() + text.slice(1) };
}

const maxNodes = 5;

export function nodesText(nodes: readonly string[]): string {
  if (nodes.length === 1 && nodes[0] === unknownNode) return 'any node';
  const more = nodes.length > maxNodes ? ` and ${nodes.length - maxNodes} more` : '';
  return `node${nodes.length === 1 ? '' : 's'} ${nodes.slice(0, maxNodes).join(', ')}${more}`;
}
