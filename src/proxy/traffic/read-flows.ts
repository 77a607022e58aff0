// Counts connections in two listings of the kernel's table, on a thread that ends with the answer.
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../host/worker-url.ts';
import type { FlowReading, FlowReply } from './read-flows-worker.ts';

export type CountedFlows = Omit<Extract<FlowReply, { kind: 'counted' }>, 'kind'> & {
  /** From the start of the first listing to that of the second. */
  readonly intervalMs: number;
  /** How long the listings took. */
  readonly busyMs: number;
};

export type ReadFlowsOptions = FlowReading & {
  readonly now: () => number;
  /** Resolves when it is time for the second listing. */
  readonly wait: () => Promise<void>;
};

/** Throws with the reason where the table cannot be listed. */
export async function readFlows({
  now,
  wait,
  ...reading
}: ReadFlowsOptions): Promise<CountedFlows> {
  const workerData: FlowReading = reading;
  const worker = new Worker(workerUrl('proxy/traffic/read-flows-worker'), { workerData });
  try {
    const firstAt = now();
    await listing(worker, 'first');
    const firstMs = now() - firstAt;
    await wait();
    const secondAt = now();
    const { kind: _, ...counted } = await listing(worker, 'second');
    return {
      ...counted,
      intervalMs: secondAt - firstAt,
      busyMs: firstMs + now() - secondAt,
    };
  } finally {
    await worker.terminate();
  }
}

type Counted = Extract<FlowReply, { kind: 'counted' }>;

const nothing: Counted = { kind: 'counted', rows: [], isPartial: false, isAccounting: false };

function listing(worker: Worker, which: 'first' | 'second'): Promise<Counted> {
  return new Promise((resolve, reject) => {
    const replied = (reply: FlowReply): void => {
      end();
      if (reply.kind === 'failed') reject(new Error(reply.reason));
      else resolve(reply.kind === 'counted' ? reply : nothing);
    };
    const failed = (error: Error): void => {
      end();
      reject(error);
    };
    const exited = (): void => failed(new Error('The thread has exited'));
    const end = (): void => {
      worker.off('message', replied).off('error', failed).off('exit', exited);
    };
    worker.on('message', replied).on('error', failed).on('exit', exited);
    worker.postMessage(which);
  });
}
