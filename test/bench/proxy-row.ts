// The node proxy at 10,000 services with 100,000 endpoints, in a network namespace of its own: the first write, one
// changed endpoint, everything anew, and memory.
import type { Figure } from './figure.ts';
import { measureInside } from './measure-inside.ts';
import type { RowOptions } from './row.ts';

const modes = ['nftables', 'iptables'] as const;

export async function proxyRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const mode of modes) {
    figures.push(...(await measureInside('proxy-inside.js', [mode, directory])));
  }
  return figures;
}
