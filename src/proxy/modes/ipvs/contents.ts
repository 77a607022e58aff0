// What is in the kernel, or should be, laid out flat.
import type { VirtualService, VirtualServiceKey } from '../../../host/netlink/ipvs.ts';
import type { Element, NftSet } from '../../../host/nftables/objects.ts';
import type { Item, RealServer } from './item.ts';

export type WeighedServer = RealServer & {
  /** 0: no new connections, those there are go on. */
  readonly weight: number;
};

export type ServerContents = {
  readonly service: VirtualService;
  /** By `serverText`. */
  readonly realServers: ReadonlyMap<string, WeighedServer>;
};

export type Contents = {
  /** By `serviceText`. */
  readonly servers: ReadonlyMap<string, ServerContents>;
  /** On the dummy interface. */
  readonly addresses: ReadonlySet<string>;
  /** By the set's name, then by `keyText`. */
  readonly elements: ReadonlyMap<string, ReadonlyMap<string, Element>>;
  /** Sizes of the chains that draw. */
  readonly choices: ReadonlySet<number>;
};

export const emptyContents: Contents = contentsOf([]);

export function contentsOf(items: Iterable<Item>): Contents {
  const servers = new Map<string, ServerContents>();
  const addresses = new Set<string>();
  const elements = new Map<string, Map<string, Element>>();
  const choices = new Set<number>();
  for (const { server, address, entries, choiceOf } of items) {
    if (server !== undefined) {
      const { service, realServers } = server;
      const weighed = realServers.map((one) => [serverText(one), { ...one, weight: 1 }] as const);
      servers.set(serviceText(service), { service, realServers: new Map(weighed) });
    }
    if (address !== undefined) addresses.add(address);
    for (const { set, element } of entries) addElement(elements, set, element);
    if (choiceOf !== undefined) choices.add(choiceOf);
  }
  return { servers, addresses, elements, choices };
}

function addElement(
  elements: Map<string, Map<string, Element>>,
  { name }: NftSet,
  element: Element,
): void {
  const ofSet = elements.get(name) ?? new Map<string, Element>();
  ofSet.set(keyText(element), element);
  elements.set(name, ofSet);
}

/** As an element of the set of servers has it for its key. */
export function serviceText({ address, protocol, port }: VirtualServiceKey): string {
  return `${address} ${protocol.toLowerCase()} ${port}`;
}

export function serverText({ address, port }: RealServer): string {
  return `${address} ${port}`;
}

export function keyText({ key }: Element): string {
  return key.join(' ');
}
