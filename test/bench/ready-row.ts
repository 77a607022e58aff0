// One machine with 1,000 services of 10 pods: a pod becomes ready, and proxy and DNS lead to it.
import type { Figure } from './figure.ts';
import { measureInside } from './measure-inside.ts';
import type { RowOptions } from './row.ts';

export function readyRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  return measureInside('ready-inside.js', [directory]);
}
