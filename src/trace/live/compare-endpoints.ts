// Which endpoints got the connections, against their chances. Pure.
import { percent } from '../outcome.ts';
import type { EndpointHop, Path } from '../trace.ts';
import type { Difference, LiveConnection, LiveEndpoint } from './live.ts';
import type { SeenFlow } from './live-request.ts';

/** A connection, seen at the node that sent it to its endpoint. */
export type NodeFlow = SeenFlow & { readonly node: string };

export function liveEndpoints(
  flows: readonly NodeFlow[],
  paths: readonly Path[],
): readonly LiveEndpoint[] {
  const found = new Map<string, LiveEndpoint>();
  for (const { node, address, port } of flows) {
    const key = `${node} ${address} ${port}`;
    const planned = plannedAt(paths, { node, address, port });
    const attempts = (found.get(key)?.attempts ?? 0) + 1;
    const pod = planned?.pod === undefined ? {} : { pod: planned.pod };
    found.set(key, { node, address, port, ...pod, attempts, chance: planned?.chance ?? 0 });
  }
  return [...found.values()].sort((a, b) => b.attempts - a.attempts);
}

type At = Pick<LiveEndpoint, 'node' | 'address' | 'port'>;

function plannedAt(paths: readonly Path[], { node, address, port }: At): EndpointHop | undefined {
  return pathAt(paths, node)?.endpoints?.find(
    (one) => one.address === address && one.port === port,
  );
}

function pathAt(paths: readonly Path[], node: string): Path | undefined {
  const [first] = paths;
  return paths.find(({ nodes }) => nodes.includes(node)) ?? first;
}

export function endpointDifferences(
  { endpoints, attempts }: LiveConnection,
  paths: readonly Path[],
): readonly Difference[] {
  // Where nothing was predicted of endpoints, or they are not seen, there is nothing to compare.
  const seen = endpoints.filter(({ node }) => pathAt(paths, node)?.policy !== undefined);
  const unplanned = seen.filter(({ chance }) => chance === 0);
  const unexpected = unplanned.map((one): Difference => {
    const planned = plannedAt(paths, one);
    const who = `${one.address}:${one.port}`;
    const why =
      planned === undefined
        ? 'which is no endpoint of the Service'
        : `which is not to be used: ${planned.unused ?? ''}`;
    return {
      ...({ hop: 'endpoints', planned: 'another endpoint', observed: who } as const),
      sentence: `${one.attempts} of ${attempts} connections went to ${who}, ${why}`,
    };
  });
  if (unplanned.length > 0) return unexpected;
  const nodes = [...new Set(seen.map(({ node }) => node))];
  return nodes.flatMap((node) =>
    skewAt(
      seen.filter((one) => one.node === node),
      pathAt(paths, node),
    ),
  );
}

/** Beyond this many standard deviations it is no chance: less than once in 15,000 times for each endpoint. */
const maxDeviations = 4;

function skewAt(seen: readonly LiveEndpoint[], path: Path | undefined): readonly Difference[] {
  // A client with affinity stays where it was.
  if (path?.policy?.affinitySeconds !== undefined) return [];
  const all = seen.reduce((sum, one) => sum + one.attempts, 0);
  return (path?.endpoints ?? []).flatMap(({ address, port, chance }) => {
    if (chance === 0) return [];
    const got = seen.find((one) => one.address === address && one.port === port)?.attempts ?? 0;
    const deviation = Math.sqrt(all * chance * (1 - chance));
    // Small numbers are no normal distribution: one connection more or less says nothing.
    if (Math.abs(got - all * chance) <= maxDeviations * deviation + 1) return [];
    const observed = `${got} of ${all}`;
    return [
      {
        ...({ hop: 'endpoints', planned: percent(chance), observed } as const),
        sentence: `${address}:${port} got ${observed} connections, where ${percent(chance)} were expected`,
      },
    ];
  });
}
