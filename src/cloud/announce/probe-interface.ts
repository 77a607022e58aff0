// The interface on which a node is reached, where nobody says which.
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
