// The lab's API server and proxies: the real binary.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import { readConnection } from '../../../src/client/read-kubeconfig.ts';
import { type ResourceClient, resourceClient } from '../../../src/client/rest.ts';
import { endpointSliceDefinition } from '../../../src/kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import { serviceDefinition } from '../../../src/kinds/service/definition.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { ended, nodeIP, podRange, serviceRange } from './network.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
export const fairlead = join(root, 'bin', 'fairlead');

export type Cluster = {
  readonly kubeconfig: string;
  readonly services: ResourceClient<Service>;
  readonly slices: ResourceClient<EndpointSlice>;
};

/** On the node's address, so that pods reach it too. */
export async function startCluster(): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-lab-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const child = spawn(
    process.execPath,
    [
      ...[fairlead, 'apiserver', '--bind-address', nodeIP, '--secure-port', '6443'],
      ...['--data-dir', join(directory, 'data'), '--write-kubeconfig', kubeconfig],
      ...['--service-cluster-ip-range', `${serviceRange},fd00:96::/108`, '--log-level', 'error'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await saying(child, 'kubeconfig in ');
  const connection = await readConnection([kubeconfig]);
  const caller = { transport: createHttpTransport(connection), userAgent: 'lab' };
  return {
    kubeconfig,
    services: resourceClient(caller, serviceDefinition),
    slices: resourceClient(caller, endpointSliceDefinition),
  };
}

function saying({ stdout }: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes(words)) resolve();
    });
    stdout?.once('end', () => reject(new Error(`Cannot start the server: it said "${text}"`)));
  });
}

export type ProxyProcess = {
  /** Resolves with the next write of IPv4 rules. */
  readonly written: () => Promise<void>;
  readonly send: (signal: NodeJS.Signals) => void;
  /** Kills it in whatever it is doing; resolves when it is gone. */
  readonly kill: () => Promise<void>;
};

export type ProxyOptions = {
  /** In whose network; absent: the node's. */
  readonly pid?: number | undefined;
  readonly syncPeriod?: string;
  readonly flags?: readonly string[];
};

export function startProxy(
  kubeconfig: string,
  mode: string,
  { pid, syncPeriod = '30s', flags = [] }: ProxyOptions = {},
): ProxyProcess {
  const inside = pid === undefined ? [] : ['nsenter', '-t', String(pid), '-n'];
  const [command = '', ...args] = [
    ...inside,
    ...[process.execPath, fairlead, 'proxy', '--kubeconfig', kubeconfig, '--proxy-mode', mode],
    ...['--hostname-override', 'n1', '--bind-address', nodeIP, '--cluster-cidr', podRange],
    ...['--nodeport-addresses', 'primary', '--min-sync-period', '0', '--sync-period', syncPeriod],
    ...['--log-level', 'debug', ...flags],
  ];
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  // Who waits for its next write would wait for ever.
  const endLab = (code: number | null, signal: string | null): void => {
    process.stderr.write(`the proxy ended with ${code ?? signal}\n`);
    process.exit(1);
  };
  child.once('exit', endLab);
  const waiting = new Set<() => void>();
  createInterface({ input: child.stderr }).on('line', (text) => {
    const line = text.startsWith('{') ? JSON.parse(text) : { level: 50 };
    if (line.level >= 50) process.stderr.write(`${text}\n`);
    if (line.family !== 'IPv4' || line.tookMs === undefined) return;
    for (const done of waiting) done();
    waiting.clear();
  });
  return {
    written: () => new Promise((done) => waiting.add(done)),
    send: (signal) => child.kill(signal),
    async kill() {
      child.off('exit', endLab);
      child.kill('SIGKILL');
      await ended(child);
    },
  };
}
