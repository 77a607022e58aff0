// Sends one load from a thread of its own and reports how it went.
import { parentPort, workerData } from 'node:worker_threads';
import { type Client, openClient, prepare } from './client.ts';
import { type LoadPlan, type LoadResult, requestFor } from './load-plan.ts';

const plan = workerData as LoadPlan;
const clients = await Promise.all(
  Array.from({ length: plan.clients }, () => openClient(plan.target, plan.protocol)),
);
const requests = Array.from({ length: plan.requests }, (_, index) =>
  prepare(requestFor(plan, index), plan.protocol),
);
parentPort?.postMessage('connected');
parentPort?.once('message', () => {
  void run().then((result) => {
    for (const client of clients) client.close();
    parentPort?.postMessage(result);
    parentPort?.close();
  });
});

async function run(): Promise<LoadResult> {
  const latencies = new Float64Array(plan.requests);
  const progress = { sent: 0, answered: 0, bytes: 0 };
  const begin = performance.now();
  await Promise.all(clients.map((client) => drive(client, latencies, progress)));
  return { seconds: (performance.now() - begin) / 1000, latencies, bytes: progress.bytes };
}

async function drive(
  client: Client,
  latencies: Float64Array,
  progress: { sent: number; answered: number; bytes: number },
): Promise<void> {
  for (;;) {
    const prepared = requests[progress.sent];
    if (prepared === undefined) return;
    progress.sent += 1;
    const begin = performance.now();
    const { status, bytes } = await client.send(prepared);
    latencies[progress.answered] = performance.now() - begin;
    progress.answered += 1;
    progress.bytes = bytes;
    if (status >= 300) {
      const { method, path } = prepared.request;
      throw new Error(`${method} ${path} was answered ${status}`);
    }
  }
}
