// Clients for which a change comes to the same, in groups: by the node on which they are, or at which they arrive.
import { zoneLabel } from '../meta/well-known-labels.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { ClientPort, Judged, JudgedPort } from './judge-port.ts';
import type { Clients } from './what-if.ts';
import { namesText } from './words.ts';

export type Sides = {
  readonly before: JudgedPort;
  readonly meanwhile?: JudgedPort;
  readonly after: JudgedPort;
};

export type ClientGroup = {
  readonly clients: Clients;
  readonly before: Judged;
  /** Where no connection is answered then, and one is before and after. */
  readonly meanwhile?: Judged;
  readonly after: Judged;
};

type Group = Omit<ClientGroup, 'clients'> & { readonly nodes: string[] };

/** Only those for whom something differs. */
export function groupClients(
  { before, meanwhile, after }: Sides,
  { by, nodes, index }: { by: ClientPort['by']; nodes: readonly string[]; index: SnapshotIndex },
): readonly ClientGroup[] {
  const groups = new Map<string, Group>();
  for (const node of nodes) {
    const sides = { before: before(node), after: after(node) };
    const between = meanwhile?.(node);
    const isGap =
      between !== undefined &&
      between.outcome !== 'answered' &&
      sides.before.outcome === 'answered' &&
      sides.after.outcome === 'answered';
    const key = [sides.before.key, sides.after.key, isGap].join(' ');
    const known = groups.get(key);
    if (known !== undefined) known.nodes.push(node);
    else groups.set(key, { ...sides, nodes: [node], ...(isGap ? { meanwhile: between } : {}) });
  }
  return [...groups.values()]
    .filter(({ before: was, after: is, meanwhile: gap }) => was.key !== is.key || gap !== undefined)
    .map(({ nodes: some, ...sides }) => ({
      ...sides,
      clients: clientsOf(some, { by, nodes, index, entrance: sides }),
    }));
}

type ClientParts = {
  readonly by: ClientPort['by'];
  readonly nodes: readonly string[];
  readonly index: SnapshotIndex;
  readonly entrance: Pick<ClientGroup, 'before' | 'after'>;
};

function clientsOf(
  some: readonly string[],
  { by, nodes, index, entrance: { before, after } }: ClientParts,
): Clients {
  const isEverywhere = some.length >= nodes.length;
  if (by === 'cluster') {
    return isEverywhere
      ? { from: by, sentence: 'all clients' }
      : { from: by, nodes: some, sentence: `clients on ${nodesText(some, nodes, index)}` };
  }
  const entrance = before.entrance ?? after.entrance;
  const who = `clients outside${entrance === undefined ? '' : ` (${entrance})`}`;
  const outside = { from: 'outside', ...(entrance === undefined ? {} : { entrance }) } as const;
  return isEverywhere
    ? { ...outside, sentence: who }
    : {
        ...{ ...outside, nodes: some },
        sentence: `${who} that arrive at ${nodesText(some, nodes, index)}`,
      };
}

/** By zone where it is all nodes of zones. */
function nodesText(some: readonly string[], all: readonly string[], index: SnapshotIndex): string {
  if (some.length === 1) return some[0] ?? '';
  const zoneOf = (name: string): string => index.node(name)?.metadata.labels?.[zoneLabel] ?? '';
  const zones = new Set(some.map(zoneOf));
  const isWhole =
    !zones.has('') && all.filter((name) => zones.has(zoneOf(name))).length === some.length;
  if (isWhole) return `nodes of zone ${namesText([...zones].sort())}`;
  return namesText(some);
}
