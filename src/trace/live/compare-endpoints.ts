// Which endpoints got the connections, against their chances. Pure.

import { percent } from '../outcome.ts';
import type { EndpointHop, Path } from '../trace.ts';
import type { Difference, LiveConnection, LiveEndpoint } from './live.ts';
import type { SeenFlow } from './live-request.ts';

export function liveEndpoints(
  flows: readonly SeenFlow[],
  path: Path | undefined,
): readonly LiveEndpoint[] {
  const found = new Map<string, LiveEndpoint>();
  for (const { address, port } of flows) {
    const key = `${address} ${port}`;
    const planned = plannedAt(path, address, port);
    const attempts = (found.get(key)?.attempts ?? 0) + 1;
    const pod = planned?.pod === undefined ? {} : { pod: planned.pod };
    found.set(key, { address, port, ...pod, attempts, chance: planned?.chance ?? 0 });
  }
  return [...found.values()].sort((a, b) => b.attempts - a.attempts);
}

function plannedAt(path: Path | undefined, address: string, port: number): EndpointHop | undefined {
  return path?.endpoints?.find((one) => one.address === address && one.port === port);
}

export function endpointDifferences(
  { endpoints, attempts }: LiveConnection,
  path: Path | undefined,
): readonly Difference[] {
  const seen = endpoints.reduce((sum, one) => sum + one.attempts, 0);
  // Where nothing was predicted of endpoints, or they are not seen, there is nothing to compare.
  if (seen === 0 || path?.endpoints === undefined || path.policy === undefined) return [];
  const unplanned = endpoints.filter(({ chance }) => chance === 0);
  const unexpected = unplanned.map((one): Difference => {
    const planned = plannedAt(path, one.address, one.port);
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
  // A client with affinity stays where it was.
  if (unplanned.length > 0 || path.policy.affinitySeconds !== undefined) return unexpected;
  return path.endpoints
    .filter(({ chance }) => chance > 0)
    .flatMap((one) => skewOf(one, endpoints, seen));
}

/** Beyond this many standard deviations it is no chance: less than once in 15,000 times for each endpoint. */
const maxDeviations = 4;

function skewOf(
  { address, port, chance }: EndpointHop,
  endpoints: readonly LiveEndpoint[],
  seen: number,
): readonly Difference[] {
  const got = endpoints.find((one) => one.address === address && one.port === port)?.attempts ?? 0;
  const deviation = Math.sqrt(seen * chance * (1 - chance));
  // Small numbers are no normal distribution: one connection more or less says nothing.
  if (Math.abs(got - seen * chance) <= maxDeviations * deviation + 1) return [];
  const observed = `${got} of ${seen}`;
  return [
    {
      ...({ hop: 'endpoints', planned: percent(chance), observed } as const),
      sentence: `${address}:${port} got ${observed} connections, where ${percent(chance)} were expected`,
    },
  ];
}
