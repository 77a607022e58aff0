// Endpoints as sockets take them. Kept encoded: every connection needs one.
import { addressBytes } from '../../../host/netlink/address-bytes.ts';
import { encodeSocketAddress } from '../../../host/socket-address.ts';

export type HostPort = { readonly ip: string; readonly port: number };
export type Backend = HostPort & { readonly address: Buffer };

/** Throws RangeError when the address is none. */
export function toBackend({ ip, port }: HostPort): Backend {
  return { ip, port, address: encodeSocketAddress({ address: addressBytes(ip), port }) };
}
