// The userspace relay beside a direct connection and beside haproxy, in a network namespace of its own.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import type { RowOptions } from './row.ts';

/** What the services' endpoint and haproxy are reached at; the interface makes it an address of the machine. */
const prepare =
  'ip link set lo up && ip link add v0 type veth peer name v1 && ip addr add 10.1.0.2/24 dev v0 && ip link set v0 up && ip link set v1 up && ip route add default via 10.1.0.1 && exec "$0" "$@"';

export async function relayRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    process.stderr.write('relay: needs root for a network namespace, left out\n');
    return [];
  }
  if (spawnSync('haproxy', ['-v']).error !== undefined) {
    process.stderr.write('relay: needs haproxy to compare with, left out\n');
    return [];
  }
  const inside = fileURLToPath(new URL('./relay-inside.js', import.meta.url));
  const child = spawn(
    'unshare',
    [
      ...['--net', '--pid', '--fork', '--kill-child', '--mount-proc'],
      ...['sh', '-c', prepare, process.execPath, inside, directory],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`Cannot measure the relay: it ended with ${code}`);
  return JSON.parse(text) as readonly Figure[];
}
