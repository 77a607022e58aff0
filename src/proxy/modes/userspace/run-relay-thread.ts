// Relays on a thread of their own, by splice and epoll.
import { MessageChannel, Worker } from 'node:worker_threads';
import { loadCLibrary } from '../../../host/native.ts';
import { workerUrl } from '../../../host/worker-url.ts';
import type { RelayLimits, RelayReply, RelayRequest, Relays, RelayTotals } from './relays.ts';

const nonBlocking = 0x800;
const closeOnExec = 0x80000;

type Answer = Extract<RelayReply, { kind: 'opened' | 'totals' }>;
type Waiting = {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: Error) => void;
};

/** Throws NativeUnavailableError where the C library cannot be reached. */
export function startRelayThread(limits: RelayLimits): Relays {
  const { checked } = loadCLibrary();
  const wake = checked('int eventfd(unsigned int value, int flags)')(0, nonBlocking | closeOnExec);
  const write = checked('long write(int fd, const void *bytes, size_t count)');
  const close = checked('int close(int fd)');
  const one = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  const { port1: port, port2: theirs } = new MessageChannel();
  const worker = new Worker(workerUrl('proxy/modes/userspace/relay-worker'), {
    workerData: { limits, wake, port: theirs },
    transferList: [theirs],
  });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let broken: Error | undefined;

  const fail = (error: Error): void => {
    broken = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('error', fail);
  const ended = new Promise<void>((resolve) =>
    worker.once('exit', () => {
      fail(new Error('the thread that carries connections has ended'));
      close(wake);
      resolve();
    }),
  );
  port.on('message', (reply: RelayReply) => {
    const asker = waiting.get(reply.ask);
    waiting.delete(reply.ask);
    if (reply.kind === 'failed') asker?.reject(new Error(reply.reason));
    else asker?.resolve(reply);
  });
  const tell = (request: RelayRequest): void => {
    if (broken !== undefined) throw broken;
    port.postMessage(request);
    write(wake, one, one.length);
  };
  const ask = (make: (ask: number) => RelayRequest): Promise<Answer> =>
    new Promise((resolve, reject) => {
      asked += 1;
      waiting.set(asked, { resolve, reject });
      tell(make(asked));
    });
  return {
    async open(relay) {
      const answer = await ask((number) => ({ kind: 'open', relay, ask: number }));
      return answer.kind === 'opened' ? answer.port : 0;
    },
    update: (update) => tell({ kind: 'update', update }),
    close: (id) => tell({ kind: 'close', id }),
    async totals(): Promise<RelayTotals> {
      const answer = await ask((number) => ({ kind: 'totals', ask: number }));
      if (answer.kind !== 'totals') throw new Error(`asked for totals, heard ${answer.kind}`);
      return answer.totals;
    },
    async stop() {
      if (broken === undefined) tell({ kind: 'stop' });
      await ended;
    },
  };
}
