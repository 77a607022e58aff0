// Refuses connections to addresses that are none of a node or a pod. Nodes choose these addresses themselves: a node writes the
// status of its pods, too. Never to loopback, to link-local addresses and others where clouds serve credentials, to Services, or to
// an API server. Names are resolved here, so that the checked address is the one that is dialled.
import { lookup } from 'node:dns/promises';
import { type Address, formatAddress, parseAddress } from '../../ip/address.ts';
import { mayBeMetadataService } from '../../ip/metadata-service.ts';
import { badRequest, serviceUnavailable } from '../../meta/api-error.ts';
import { isReachable } from './find-target.ts';
import type { Dial } from './forward.ts';

/** Whether no node or pod can have this address and port. */
export type IsReserved = (address: Address, port: number) => boolean;

export type GuardOptions = {
  readonly dial: Dial;
  readonly isReserved: IsReserved;
  /** All addresses of a host name; absent: as the machine resolves it. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
};

export function guardDial({ dial, isReserved, resolve = resolveHost }: GuardOptions): Dial {
  return async (host, port) => {
    const found = parseAddress(host) === undefined ? await resolve(host) : [host];
    const allowed = found.find((text) => {
      const address = parseAddress(text);
      return address !== undefined && isAllowed(address) && !isReserved(address, port);
    });
    if (allowed === undefined) throw badRequest('address not allowed');
    return await dial(allowed, port);
  };
}

function isAllowed(address: Address): boolean {
  const inside = embeddedIPv4(address);
  return [address, ...(inside === undefined ? [] : [inside])].every(
    (one) => isReachable(formatAddress(one)) && !mayBeMetadataService(one),
  );
}

/** Networks may translate 64:ff9b::/96 (NAT64, RFC 6052) and 2002::/16 (6to4) to IPv4, and ::/96 once was such a range. */
function embeddedIPv4({ family, value }: Address): Address | undefined {
  if (family !== 'IPv6') return undefined;
  const high = value >> 32n;
  const isLow = high === 0n || high === 0x64ff9bn << 64n;
  if (isLow) return { family: 'IPv4', value: value & 0xffffffffn };
  const is6to4 = value >> 112n === 0x2002n;
  return is6to4 ? { family: 'IPv4', value: (value >> 80n) & 0xffffffffn } : undefined;
}

async function resolveHost(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw serviceUnavailable(
      `error trying to reach service: dial tcp: lookup ${host}: ${(error as Error).message}`,
    );
  }
}
