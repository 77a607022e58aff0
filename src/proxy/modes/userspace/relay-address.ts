// Endpoints as sockets take them. Kept encoded: every connection needs one.
import { encodeSocketAddress } from '../../../host/socket-address.ts';
import { parseAddress } from '../../../ip/address.ts';
import { addressBytes } from '../../../ip/address-bytes.ts';

export type HostPort = { readonly ip: string; readonly port: number };
export type Backend = HostPort & { readonly address: Buffer };

export function toBackend({ ip, port }: HostPort): Backend {
  const address = parseAddress(ip);
  if (address === undefined) throw new Error(`Cannot reach "${ip}": it is no IP address`);
  return { ip, port, address: encodeSocketAddress({ address: addressBytes(address), port }) };
}
