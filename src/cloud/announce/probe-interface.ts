// Finds the interface with the node's address.
import { networkInterfaces } from 'node:os';
import type { Node } from '../../kinds/node/types.ts';

export function interfaceOf({ status }: Node): string | undefined {
  const own = (status.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address);
  return Object.entries(networkInterfaces()).find(([, addresses = []]) =>
    addresses.some(({ address }) => own.includes(address)),
  )?.[0];
}
