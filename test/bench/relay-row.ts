// The userspace relay beside a direct connection and beside haproxy, in a network namespace of its own.
import { spawnSync } from 'node:child_process';
import type { Figure } from './figure.ts';
import { measureInside } from './measure-inside.ts';
import type { RowOptions } from './row.ts';

export async function relayRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  if (spawnSync('haproxy', ['-v']).error !== undefined) {
    process.stderr.write('relay: needs haproxy to compare with, left out\n');
    return [];
  }
  return measureInside('relay-inside.js', [directory]);
}
