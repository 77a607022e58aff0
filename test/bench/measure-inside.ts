// Measures in a network namespace, which lives as long as the process in it; all that this process started ends with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

export type Inside = {
  /** Beside this file; prints figures as JSON. */
  readonly script: string;
  readonly args: readonly string[];
  /** Shell commands that make the network, besides the loopback. */
  readonly network?: readonly string[];
};

/** None where there are no rights to make one, and a word about it. */
export async function measureInside({
  script,
  args,
  network = [],
}: Inside): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    process.stderr.write('needs root for a network namespace, left out\n');
    return [];
  }
  const commands = ['ip link set lo up', ...network, 'exec "$0" "$@"'];
  const program = fileURLToPath(new URL(`./${script}`, import.meta.url));
  const child = spawn(
    'unshare',
    [
      ...['--net', '--pid', '--fork', '--kill-child', '--mount-proc'],
      ...['sh', '-c', commands.join(' && '), process.execPath, program, ...args],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) {
    throw new Error(`Cannot measure with ${[script, ...args].join(' ')}: it ended with ${code}`);
  }
  return JSON.parse(text) as readonly Figure[];
}
