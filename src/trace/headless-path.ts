// A connection to a pod by the name of a headless Service: DNS chooses the pod, no rule is met, and no port is translated.
import { addressOfFamily } from '../ip/family-address.ts';
import { isReady, isServing, isTerminating } from '../kinds/endpoint-slice/conditions.ts';
import type { Endpoint } from '../kinds/endpoint-slice/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import type { Family } from '../proxy/model/state.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { endHop } from './end-hop.ts';
import type { Destination } from './judge-connection.ts';
import { percent } from './outcome.ts';
import type { Source } from './resolve-source.ts';
import type { EndHop, EndpointHop, Path } from './trace.ts';

export type HeadlessParts = {
  readonly service: Service;
  readonly source: Source;
  /** Of one family. */
  readonly destinations: readonly Destination[];
};

export function headlessPath(
  index: SnapshotIndex,
  { service, source, destinations }: HeadlessParts,
): Path | undefined {
  const [first] = destinations;
  if (first === undefined) return undefined;
  const { family, port, protocol } = first;
  const objects = endpointsByAddress(index, service, family);
  const chance = 1 / destinations.length;
  const endpoints = destinations.map(({ address }): EndpointHop => {
    const endpoint = objects.get(address);
    const conditions = endpoint?.conditions ?? {};
    const { kind, name, namespace } = endpoint?.targetRef ?? {};
    const isPod = kind === 'Pod' && name !== undefined;
    return {
      ...{ address, port, chance },
      ...(isPod ? { pod: `${namespace ?? service.metadata.namespace}/${name}` } : {}),
      ...(endpoint?.nodeName === undefined ? {} : { node: endpoint.nodeName }),
      ...(endpoint?.zone === undefined ? {} : { zone: endpoint.zone }),
      ready: isReady(conditions),
      serving: isServing(conditions),
      terminating: isTerminating(conditions),
      hints: { nodeHints: [], zoneHints: [] },
      sender: {
        kind: 'client',
        sentence: `the address of the ${source.kind === 'outside' ? 'client' : source.kind}`,
      },
    };
  });
  const key = objectKey(service.metadata);
  const spec = (service.spec.ports ?? []).find((one) => one.port === port);
  const differs = spec !== undefined && spec.targetPort !== undefined && spec.targetPort !== port;
  const target = differs ? `; its target port ${spec.targetPort} does not count here` : '';
  const ends = endpoints.slice(0, maxEnds).map((one) => endHop(index, { ...one, protocol }));
  return {
    ...first,
    nodes: source.nodes,
    entrance: {
      ...{ kind: 'headless', service: key, why: 'no-service' },
      ...(spec?.name ? { portName: spec.name } : {}),
      ...(spec?.targetPort === undefined ? {} : { targetPort: spec.targetPort }),
      sentence: `Service ${key} is headless: DNS chooses the pod, and port ${port} is not translated${target}`,
    },
    endpoints,
    ends,
    outcome:
      differs && ends.every(isKnownNotToListen)
        ? {
            kind: 'refused',
            sentence: `Refused by the pod, unless its spec is wrong: Service ${key} is headless, so that the connection goes to port ${port} itself, on which no container listens by spec (its target port ${spec.targetPort} does not count)`,
          }
        : { kind: 'answered', sentence: answeredSentence(endpoints, port) },
  };
}

function isKnownNotToListen({ container, restarts }: EndHop): boolean {
  // Without restarts nothing is known of the pod.
  return container === undefined && restarts !== undefined;
}

function answeredSentence(endpoints: readonly EndpointHop[], port: number): string {
  const [only, ...others] = endpoints;
  const who = only?.pod === undefined ? (only?.address ?? '') : `pod ${only.pod}`;
  return others.length === 0
    ? `Answered by ${who}, at port ${port}`
    : `Answered by the pod whose address the client takes, one of ${endpoints.length}, at port ${port} (${percent(only?.chance ?? 0)} each, as DNS shuffles them)`;
}

/** More ends than this are shown by their number. */
const maxEnds = 50;

function endpointsByAddress(
  index: SnapshotIndex,
  { metadata: { namespace = '', name = '' } }: Service,
  family: Family,
): ReadonlyMap<string, Endpoint> {
  return new Map(
    index.slicesOf(namespace, name).flatMap(({ endpoints }) =>
      (endpoints ?? []).flatMap((one) =>
        (one.addresses ?? []).flatMap((text) => {
          const address = addressOfFamily(text, family);
          return address === undefined ? [] : [[address, one] as const];
        }),
      ),
    ),
  );
}
