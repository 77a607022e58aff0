import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { EndpointSubset, Endpoints } from './types.ts';

/** A cell lists this many addresses and counts the rest. */
const shownAddresses = 3;

export const endpointsColumns: readonly Column<Endpoints>[] = [
  nameColumn,
  {
    name: 'Endpoints',
    type: 'string',
    description:
      'The set of all endpoints is the union of all subsets. Addresses are placed into subsets according to the IPs they share. A single address with multiple ports, some of which are ready and some of which are not (because they come from different containers) will result in the address being displayed in different subsets for the different ports. No address will appear in both Addresses and NotReadyAddresses in the same subset. Sets of addresses and ports that comprise a service.',
    cell: ({ subsets = [] }) => formatSubsets(subsets),
  },
  ageColumn,
];

function formatSubsets(subsets: readonly EndpointSubset[]): string {
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap(readyAddresses);
  const shown = all.slice(0, shownAddresses).join(',');
  const more = all.length - shownAddresses;
  return more > 0 ? `${shown} + ${more} more...` : shown;
}

function readyAddresses({ addresses = [], ports = [] }: EndpointSubset): readonly string[] {
  if (ports.length === 0) return addresses.map(({ ip }) => ip);
  return ports.flatMap(({ port }) => addresses.map(({ ip }) => joinHostPort(ip, port)));
}

function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
