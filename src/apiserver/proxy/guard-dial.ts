// Refuses connections to addresses that are none of a node or a pod. Nodes choose these addresses themselves: a node writes the
// status of its pods, too. Never to loopback, to link-local addresses (where clouds serve credentials), to Services, or to an API
// server. Names are resolved here, so that the checked address is the one that is dialled.
import { lookup } from 'node:dns/promises';
import { type Address, parseAddress } from '../../ip/address.ts';
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
      return address !== undefined && isReachable(text) && !isReserved(address, port);
    });
    if (allowed === undefined) throw badRequest('address not allowed');
    return await dial(allowed, port);
  };
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
