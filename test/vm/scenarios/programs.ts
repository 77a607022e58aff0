// The recordings' own client and server, unchanged, as threads inside the namespaces of the lab.
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { InsideOrder } from './inside-thread.ts';
import type { Lab } from './lab.ts';

export const folder = fileURLToPath(
  new URL('../../../../test/conformance/dataplane/', import.meta.url),
);
const ports = ['9376', '9377'];

/** What one connection got. */
export type ProbeResult = {
  readonly name?: string;
  readonly peer?: string;
  readonly status?: number;
  readonly body?: string;
  readonly error?: string;
};

export type ProbeOrder = {
  readonly host: string;
  readonly port: number;
  readonly n: number;
  readonly timeout: number;
  readonly proto?: string;
  readonly localPort?: number;
};

export type Programs = {
  /** Serves in the pod of that name; resolves when it listens. */
  readonly startBackend: (name: string) => Promise<void>;
  /** Opens connections from there. */
  readonly probe: (from: string, order: ProbeOrder) => Promise<readonly ProbeResult[]>;
  readonly stop: () => Promise<void>;
};

type Prober = (order: ProbeOrder) => Promise<readonly ProbeResult[]>;

export function runPrograms(lab: Lab): Programs {
  const threads: Worker[] = [];
  const probers = new Map<string, Prober>();
  const start = (file: string, host: string, argv: readonly string[]): Worker => {
    const program = pathToFileURL(join(folder, file)).href;
    const workerData: InsideOrder = { namespacePath: lab.pathOf(host), program };
    const thread = new Worker(new URL('./inside-thread.js', import.meta.url), {
      ...{ argv: [...argv], stdin: true, stdout: true, workerData },
    });
    threads.push(thread);
    return thread;
  };
  return {
    async startBackend(name) {
      await once(start('backend.mjs', name, [name, ...ports]).stdout, 'data');
    },
    probe(from, order) {
      const prober = probers.get(from) ?? proberOf(start('probe.mjs', from, []));
      probers.set(from, prober);
      return prober(order);
    },
    stop: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

/** It takes orders by lines, and answers each by its number when it is done with it. */
function proberOf(thread: Worker): Prober {
  const waiting = new Map<number, (results: readonly ProbeResult[]) => void>();
  let last = 0;
  createInterface({ input: thread.stdout }).on('line', (line) => {
    const { id, results } = JSON.parse(line) as { id: number; results: readonly ProbeResult[] };
    waiting.get(id)?.(results);
    waiting.delete(id);
  });
  return (order) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      thread.stdin?.write(`${JSON.stringify({ id: last, ...order })}\n`);
    });
}
