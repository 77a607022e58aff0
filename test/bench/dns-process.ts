// Processes of the DNS row: the real binary, the echo, and dnsperf.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end } from './binary.ts';
import { cpuMicros } from './process-stats.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export type UdpProcess = {
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<void>;
};

export function startDnsBinary(
  kubeconfig: string,
  flags: readonly string[] = [],
): Promise<UdpProcess> {
  return started([
    ...[join(root, 'bin', 'fairlead'), 'dns', '--kubeconfig', kubeconfig],
    ...['--listen', '127.0.0.1:0', '--forward', 'none', '--metrics-bind-address', 'none'],
    ...['--log-level', 'warn', ...flags],
  ]);
}

export function startEcho(way: 'batches' | 'packets'): Promise<UdpProcess> {
  return started([fileURLToPath(new URL('./dns-echo.js', import.meta.url)), way]);
}

async function started(args: readonly string[]): Promise<UdpProcess> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await portOf(child);
  return { pid: child.pid ?? 0, port, stop: () => end(child) };
}

/** Each says where it listens. */
function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      const port = / on 127\.0\.0\.1:(\d+)\n/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('exit', () => reject(new Error(`Cannot start: it ended, saying "${text}"`)));
  });
}

export function hasDnsperf(): boolean {
  return spawnSync('dnsperf', ['-h'], { stdio: 'ignore' }).error === undefined;
}

export type DnsLoad = { readonly perSecond: number; readonly cpuMicros: number };

/** As many questions as are answered, from the file, for some seconds. */
export async function runDnsperf(
  server: UdpProcess,
  file: string,
  options: { readonly seconds: number; readonly perSecond?: number },
): Promise<DnsLoad> {
  const { seconds, perSecond } = options;
  const before = cpuMicros(server.pid);
  const child = spawn(
    'dnsperf',
    [
      ...['-s', '127.0.0.1', '-p', String(server.port), '-d', file, '-l', String(seconds)],
      ...['-c', '8', '-q', '200'],
      ...(perSecond === undefined ? [] : ['-Q', String(perSecond)]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  await new Promise((resolve) => child.once('close', resolve));
  const value = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
  const completed = value(/Queries completed:\s+(\d+)/);
  return {
    perSecond: value(/Queries per second:\s+([\d.]+)/),
    cpuMicros: (cpuMicros(server.pid) - before) / Math.max(completed, 1),
  };
}
