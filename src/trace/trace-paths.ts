// The ways of a connection to one address: by node where nodes differ, each with its hops and its outcome.
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { addressHop } from './address-hop.ts';
import { endHop } from './end-hop.ts';
import { endpointHops } from './endpoint-hops.ts';
import {
  type Destination,
  type JudgedConnection,
  type JudgeOptions,
  judgeConnection,
} from './judge-connection.ts';
import { outcomeOf } from './outcome.ts';
import { policyHop } from './policy-hop.ts';
import type { EndHop, EndpointHop, Path } from './trace.ts';

export type PathOptions = JudgeOptions & {
  /** The rules that a packet meets, in the syntax of the mode. */
  readonly showRules?: (judged: JudgedConnection) => readonly string[];
  /** Is called with the first packet at each node, or at one of those that are alike. */
  readonly onJudged?: (judged: JudgedConnection) => void;
};

/** More ends than this are shown by their number. */
const maxEnds = 50;

export function tracePaths(
  index: SnapshotIndex,
  destination: Destination,
  options: PathOptions,
): readonly Path[] {
  const all = judgeConnection(index, destination, options);
  const maxUnused = Math.max(minUnused, Math.floor(maxListed / Math.max(1, all.length)));
  const paths = all.map((judged) => pathOf(index, judged, { destination, options, maxUnused }));
  return paths.length > 1 ? mergeEqual(paths) : paths;
}

/** Over all nodes: endpoints that get no connection are listed up to here, and a few for each node in any case. */
const maxListed = 200_000;
const minUnused = 100;

type PathParts = {
  readonly destination: Destination;
  readonly options: PathOptions;
  readonly maxUnused: number;
};

function pathOf(
  index: SnapshotIndex,
  judged: JudgedConnection,
  { destination, options, maxUnused }: PathParts,
): Path {
  const { source, mode, showRules, onJudged } = options;
  onJudged?.(judged);
  const entrance = addressHop(index, judged);
  const endpoints = endpointHops(index, judged, { source, traits: mode.traits });
  const policy = policyHop(index, judged, { source });
  const outcome = outcomeOf(index, judged, { entrance, endpoints, source });
  return {
    ...destination,
    nodes: judged.nodes,
    entrance,
    ...(policy === undefined ? {} : { policy }),
    ...(judged.judgement.target === undefined ? {} : { endpoints: listed(endpoints, maxUnused) }),
    ...(showRules === undefined ? {} : { rules: showRules(judged) }),
    ends: outcome.kind === 'answered' ? endsOf(index, destination, endpoints) : [],
    outcome,
  };
}

function listed(endpoints: readonly EndpointHop[], maxUnused: number): readonly EndpointHop[] {
  if (endpoints.length <= maxUnused) return endpoints;
  let unused = 0;
  return endpoints.filter(({ chance }) => {
    if (chance > 0) return true;
    unused += 1;
    return unused <= maxUnused;
  });
}

function endsOf(
  index: SnapshotIndex,
  { address, port, protocol }: Destination,
  endpoints: readonly EndpointHop[],
): readonly EndHop[] {
  const used = endpoints.filter(({ chance }) => chance > 0).slice(0, maxEnds);
  if (used.length > 0) return used.map((one) => endHop(index, { ...one, protocol }));
  const [pod] = index.podsAt(address);
  if (pod === undefined) return [];
  const { namespace = '', name = '' } = pod.metadata;
  return [endHop(index, { address, port, protocol, pod: `${namespace}/${name}` })];
}

/** Nodes at which the same happens are listed together. What is a single node's alone, such as its address, is left out then. */
function mergeEqual(paths: readonly Path[]): readonly Path[] {
  const merged = new Map<string, Path>();
  for (const path of paths) {
    const { nodes, ...rest } = path;
    const key = JSON.stringify({ ...rest, rules: [], endpoints: withoutSenders(path) });
    const known = merged.get(key);
    if (known === undefined) merged.set(key, path);
    else {
      merged.set(key, {
        ...known,
        nodes: [...known.nodes, ...nodes].sort(),
        ...(known.endpoints === undefined ? {} : { endpoints: known.endpoints.map(anonymous) }),
      });
    }
  }
  return [...merged.values()];
}

function withoutSenders({ endpoints = [] }: Path): readonly unknown[] {
  return endpoints.map(({ sender, ...rest }) => [rest, sender?.kind, sender?.masquerade]);
}

function anonymous(hop: EndpointHop): EndpointHop {
  const { sender } = hop;
  if (sender === undefined || sender.kind === 'client') return hop;
  const { address: _, sentence, ...rest } = sender;
  const why = sentence.slice(sentence.indexOf(': '));
  return { ...hop, sender: { ...rest, sentence: `the node's address towards it${why}` } };
}
