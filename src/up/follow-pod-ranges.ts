// Lets the lan reach pods: a route for the pod ranges of each node, through that node.
import type { ApiCaller } from '../client/api-call.ts';
import { startInformer } from '../client/informer.ts';
import { systemClock } from '../host/clock.ts';
import { familyOf } from '../ip/address.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Log } from '../observe/log.ts';

export type PodRangeFollower = {
  readonly caller: ApiCaller;
  readonly log: Log;
  readonly addRoute: (destination: string, gateway: string) => Promise<void>;
};

export function followPodRanges(
  { caller, log, addRoute }: PodRangeFollower,
  signal: AbortSignal,
): Promise<void> {
  const nodes = startInformer({ caller, type: nodeDefinition, clock: systemClock, log }, signal);
  const known = new Set<string>();
  const look = (node: Node): void => {
    for (const { destination, gateway } of podRoutes(node)) {
      const key = `${destination} ${gateway}`;
      if (known.has(key)) continue;
      known.add(key);
      addRoute(destination, gateway).catch((error: unknown) => {
        known.delete(key);
        log.warn('pods cannot be reached from the lan', { destination, error: String(error) });
      });
    }
  };
  nodes.onChange({ add: look, update: (_, after) => look(after) });
  return nodes.ended;
}

type PodRoute = { readonly destination: string; readonly gateway: string };

function podRoutes({ spec, status }: Pick<Node, 'spec' | 'status'>): readonly PodRoute[] {
  const gateways = (status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address);
  return (spec.podCIDRs ?? []).flatMap((destination) => {
    const family = familyOf(destination.split('/')[0] ?? '');
    const gateway = gateways.find((address) => familyOf(address) === family);
    return gateway === undefined ? [] : [{ destination, gateway }];
  });
}
