// What a service port wants in the kernel, piece by piece.
import type { VirtualService } from '../../../host/netlink/ipvs.ts';
import type { Element, NftSet } from '../../../host/nftables/objects.ts';

export type Entry = { readonly set: NftSet; readonly element: Element };

/** Where connections of a virtual server go. */
export type RealServer = { readonly address: string; readonly port: number };

export type VirtualServer = {
  readonly service: VirtualService;
  readonly realServers: readonly RealServer[];
};

/**
 * One piece, by a key. Several service ports may want the same piece, or different ones of the same key: then the one of
 * the lowest rank is there, with everything that belongs to it.
 */
export type Item = {
  readonly key: string;
  readonly rank: number;
  readonly server?: VirtualServer;
  /** For the dummy interface. */
  readonly address?: string;
  readonly entries: readonly Entry[];
  /** A chain that draws one of so many endpoints must be there. */
  readonly choiceOf?: number;
};
