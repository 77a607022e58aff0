// The node proxy at 10,000 services with 100,000 endpoints, in a network namespace of its own: the first write, one
// changed endpoint, everything anew, and memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import type { RowOptions } from './row.ts';

const modes = ['nftables', 'iptables'] as const;

export async function proxyRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    process.stderr.write('proxy: needs root for a network namespace, left out\n');
    return [];
  }
  const figures: Figure[] = [];
  for (const mode of modes) figures.push(...(await measureInside(mode, directory)));
  return figures;
}

/** The namespace lives as long as the process in it, and all that it started ends with it. */
async function measureInside(mode: string, directory: string): Promise<readonly Figure[]> {
  const inside = fileURLToPath(new URL('./proxy-inside.js', import.meta.url));
  const command = 'ip link set lo up && exec "$0" "$@"';
  const child = spawn(
    'unshare',
    [
      ...['--net', '--pid', '--fork', '--kill-child', '--mount-proc'],
      ...['sh', '-c', command, process.execPath, inside, mode, directory],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0)
    throw new Error(`Cannot measure the proxy in mode ${mode}: it ended with ${code}`);
  return JSON.parse(text) as readonly Figure[];
}
