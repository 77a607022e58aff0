// Starts the real proxy and reads from its log when rules were written.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { end } from './binary.ts';
import { residentMiB } from './process-stats.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export type SyncLine = {
  readonly family: string;
  readonly isFull: boolean;
  readonly changes: number;
  readonly bytes: number;
  readonly tookMs: number;
  readonly afterChangeMs: number;
};

export type ProxyBinary = {
  readonly pid: number;
  /** The next write of rules that is as wanted. */
  readonly nextSync: (isWanted: (line: SyncLine) => boolean) => Promise<SyncLine>;
  readonly memory: () => { readonly now: number; readonly most: number };
  readonly cpu: () => ProxyCpu;
  readonly stop: () => Promise<void>;
};

/** CPU time so far, in seconds. */
export type ProxyCpu = {
  readonly user: number;
  readonly system: number;
  /** Of programs that it ran, in the kernel and outside. */
  readonly programs: number;
};

type Waiting = {
  readonly isWanted: (line: SyncLine) => boolean;
  readonly found: (line: SyncLine) => void;
};

/** USER_HZ, which is 100 on every Linux that Node.js runs on. */
const ticksPerSecond = 100;

export function startProxyBinary(kubeconfig: string, mode: string): ProxyBinary {
  const child = spawn(
    process.execPath,
    [
      ...[join(root, 'bin', 'fairlead'), 'proxy', '--kubeconfig', kubeconfig],
      ...['--proxy-mode', mode, '--hostname-override', 'node-1', '--log-level', 'debug'],
      ...['--cluster-cidr', '10.128.0.0/9,fd44::/16'],
      ...['--min-sync-period', '0', '--sync-period', '10s'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const waiting = new Set<Waiting>();
  createInterface({ input: child.stderr }).on('line', (text) => {
    if (!text.startsWith('{')) return void process.stderr.write(`${text}\n`);
    const line = JSON.parse(text) as SyncLine & { readonly level: number };
    if (line.level >= 40) process.stderr.write(`${text}\n`);
    if (line.tookMs === undefined) return;
    for (const one of waiting) {
      if (!one.isWanted(line)) continue;
      waiting.delete(one);
      one.found(line);
    }
  });
  const pid = child.pid ?? 0;
  return {
    pid,
    nextSync: (isWanted) => new Promise((found) => waiting.add({ isWanted, found })),
    memory: () => residentMiB(pid),
    cpu() {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const seconds = (at: number): number => Number(fields[at]) / ticksPerSecond;
      return { user: seconds(11), system: seconds(12), programs: seconds(13) + seconds(14) };
    },
    stop: () => end(child),
  };
}
