// The userspace relay beside a direct connection and beside haproxy, in a network namespace of its own.
import { spawnSync } from 'node:child_process';
import type { Figure } from './figure.ts';
import { measureInside } from './namespace.ts';
import type { RowOptions } from './row.ts';

/** What the services' endpoint and haproxy are reached at; the interface makes it an address of the machine. */
const network = [
  'ip link add v0 type veth peer name v1',
  'ip addr add 10.1.0.2/24 dev v0',
  'ip link set v0 up',
  'ip link set v1 up',
  'ip route add default via 10.1.0.1',
];

export async function relayRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  if (spawnSync('haproxy', ['-v']).error !== undefined) {
    process.stderr.write('relay: needs haproxy to compare with, left out\n');
    return [];
  }
  return measureInside({ script: 'relay-inside.js', args: [directory], network });
}
