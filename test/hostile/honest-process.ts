// The honest client, in a process of its own so that only the server can delay it: it reads, creates, watches and deletes
// all the time, and reports the CPU time of the server between a read and its response.
import { mainThreadCpuMs } from '../bench/process-stats.ts';
import type { Target } from '../bench/target.ts';
import { createHttpsClient, type HttpsClient } from './https-client.ts';

export type HonestPlan = {
  readonly target: Target;
  readonly pid: number;
  /** Where the server works for longer between a read and its answer, the client gives up: it may never be answered. */
  readonly giveUpCpuMs: number;
};

export type HonestReport = {
  /** Of the main thread, between a read and its answer; the longest of all. Never less than the longest stall. */
  readonly maxStallCpuMs: number;
  readonly reads: number;
  readonly objects: number;
  /** What went wrong, one text each. */
  readonly failures: readonly string[];
  readonly gaveUp: boolean;
};

type Seen = { maxStallCpuMs: number; reads: number; objects: number; failures: string[] };

const collection = '/api/v1/namespaces/default/configmaps';
/** Between two reads: often enough to meet every stall that matters, seldom enough to leave the server its time. */
const pauseMs = 2;

process.once('message', (plan: HonestPlan) => {
  void run(plan);
});

async function run(plan: HonestPlan): Promise<void> {
  const seen: Seen = { maxStallCpuMs: 0, reads: 0, objects: 0, failures: [] };
  const clients = [createHttpsClient(plan.target), createHttpsClient(plan.target)] as const;
  const ending = new AbortController();
  const gaveUp = new Promise<true>((resolve) => {
    ending.signal.addEventListener('abort', () => resolve(true));
  });
  let isGivenUp = false;
  const giveUp = (): void => {
    isGivenUp = true;
    ending.abort();
  };
  const work = Promise.all([
    readAll(plan, clients[0], seen, { signal: ending.signal, giveUp }),
    liveAll(clients[1], seen, ending.signal),
  ]);
  process.once('message', () => ending.abort());
  await gaveUp;
  if (!isGivenUp) await work;
  for (const { close } of clients) close();
  const report: HonestReport = { ...seen, gaveUp: isGivenUp };
  process.send?.(report, () => process.exit());
}

type Until = { readonly signal: AbortSignal; readonly giveUp: () => void };

async function readAll(
  { pid, giveUpCpuMs }: HonestPlan,
  client: HttpsClient,
  seen: Seen,
  { signal, giveUp }: Until,
): Promise<void> {
  while (!signal.aborted) {
    const begin = mainThreadCpuMs(pid);
    const note = (): void => {
      seen.maxStallCpuMs = Math.max(seen.maxStallCpuMs, mainThreadCpuMs(pid) - begin);
      if (seen.maxStallCpuMs > giveUpCpuMs) giveUp();
    };
    const watching = setInterval(note, 50);
    await report(seen, 'get', async () => {
      const { status } = await client.send({ method: 'GET', path: `${collection}/none` });
      if (status !== 404) throw new Error(`answered ${status}`);
    });
    clearInterval(watching);
    note();
    seen.reads += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Creates, sees it come by a watch, reads and deletes: all that an honest client lives by. */
async function liveAll(client: HttpsClient, seen: Seen, signal: AbortSignal): Promise<void> {
  const waiting = new Map<string, () => void>();
  await report(seen, 'watch', () =>
    client.follow(`${collection}?watch=1`, (line) => {
      if (line === '') return void (signal.aborted || seen.failures.push('watch: ended'));
      const { object } = JSON.parse(line) as { object: { metadata: { name?: string } } };
      waiting.get(object.metadata.name ?? '')?.();
    }),
  );
  for (let n = 0; !signal.aborted; n += 1) {
    const name = `honest-${process.pid}-${n}`;
    const body = JSON.stringify({ metadata: { name } });
    const arrived = new Promise<void>((resolve) => waiting.set(name, resolve));
    await report(seen, 'life', async () => {
      for (const [method, path, expected] of [
        ['POST', collection, 201],
        ['GET', `${collection}/${name}`, 200],
        ['DELETE', `${collection}/${name}`, 200],
      ] as const) {
        const { status } = await client.send({ method, path, ...(method === 'POST' && { body }) });
        if (status !== expected) throw new Error(`${method} answered ${status}`);
        if (method === 'POST') await arrived;
      }
    });
    waiting.delete(name);
    seen.objects += 1;
    if (seen.objects === 1) process.send?.('started');
  }
}

async function report(seen: Seen, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    seen.failures.push(`${what}: ${(error as Error).message}`);
  }
}
