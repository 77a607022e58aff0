// Keeps routes from the LAN to pods: one for each pod CIDR of a node, with that node as the gateway.
import type { ApiCaller } from '../client/api-call.ts';
import { startInformer } from '../client/informer.ts';
import { systemClock } from '../host/clock.ts';
import { familyOf } from '../ip/address.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Log } from '../observe/log.ts';

export type PodRangeOptions = {
  readonly caller: ApiCaller;
  readonly log: Log;
  readonly addRoute: (destination: string, gateway: string) => Promise<void>;
};

export function followPodRanges(
  { caller, log, addRoute }: PodRangeOptions,
  signal: AbortSignal,
): Promise<void> {
  const nodes = startInformer({ caller, type: nodeDefinition, clock: systemClock, log }, signal);
  const known = new Set<string>();
  const addRoutes = (node: Node): void => {
    for (const { destination, gateway } of podRoutes(node)) {
      const key = `${destination} ${gateway}`;
      if (known.has(key)) continue;
      known.add(key);
      addRoute(destination, gateway).catch((error: unknown) => {
        known.delete(key);
        log.warn('Failed to add route to pods, retrying on the next change of the node', {
          destination,
          error: String(error),
        });
      });
    }
  };
  nodes.onChange({ add: addRoutes, update: (_, after) => addRoutes(after) });
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
