// Counts connections in two listings of the kernel's table, on a thread that ends with the answer.
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../host/worker-url.ts';
import type { FlowCount } from './count-flows.ts';
import type { FlowReading, FlowReply } from './read-flows-worker.ts';

export type CountedFlows = {
  readonly rows: readonly FlowCount[];
  /** Whether there were more connections than could be compared. */
  readonly isPartial: boolean;
  /** Whether the kernel counts the bytes of new connections. */
  readonly isAccounting: boolean;
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
    // The thread takes a while to start: not from when it was requested.
    const first = await request(worker, 'first', 'listed');
    const firstAt = now() - first.busyMs;
    await wait();
    const second = await request(worker, 'second', 'counted');
    const secondAt = now() - second.busyMs;
    const rows = await readRows(worker);
    const { isPartial, isAccounting } = second;
    const busyMs = first.busyMs + second.busyMs;
    return { rows, isPartial, isAccounting, intervalMs: secondAt - firstAt, busyMs };
  } finally {
    await worker.terminate();
  }
}

async function readRows(worker: Worker): Promise<readonly FlowCount[]> {
  const all: FlowCount[] = [];
  for (;;) {
    const { rows } = await request(worker, 'rows', 'rows');
    if (rows.length === 0) return all;
    for (const row of rows) all.push(row);
  }
}

type ReplyOf<Kind extends FlowReply['kind']> = Extract<FlowReply, { kind: Kind }>;

function request<Kind extends FlowReply['kind']>(
  worker: Worker,
  what: 'first' | 'second' | 'rows',
  kind: Kind,
): Promise<ReplyOf<Kind>> {
  return new Promise((resolve, reject) => {
    const replied = (reply: FlowReply): void => {
      end();
      if (reply.kind === kind) resolve(reply as ReplyOf<Kind>);
      else reject(new Error(reply.kind === 'failed' ? reply.reason : `Unexpected ${reply.kind}`));
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
    worker.postMessage(what);
  });
}
