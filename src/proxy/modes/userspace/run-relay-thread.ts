// Relays on a thread of their own, by splice and epoll.
import { MessageChannel, Worker } from 'node:worker_threads';
import { loadCLibrary } from '../../../host/native.ts';
import { workerUrl } from '../../../host/worker-url.ts';
import type {
  CarriedByRelay,
  RelayLimits,
  RelayReply,
  RelayRequest,
  Relays,
  RelayTotals,
} from './relays.ts';

const nonBlocking = 0x800;
const closeOnExec = 0x80000;

type Answer = Extract<RelayReply, { kind: 'opened' | 'totals' | 'carried' }>;
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
  const { port1: port, port2: workerPort } = new MessageChannel();
  const worker = new Worker(workerUrl('proxy/modes/userspace/relay-worker'), {
    workerData: { limits, wake, port: workerPort },
    transferList: [workerPort],
  });
  const waiting = new Map<number, Waiting>();
  let lastRequest = 0;
  let failure: Error | undefined;

  const fail = (error: Error): void => {
    failure = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('error', fail);
  const ended = new Promise<void>((resolve) =>
    worker.once('exit', () => {
      fail(new Error('The relay thread has exited'));
      close(wake);
      resolve();
    }),
  );
  port.on('message', (reply: RelayReply) => {
    const pending = waiting.get(reply.ask);
    waiting.delete(reply.ask);
    if (reply.kind === 'failed') pending?.reject(new Error(reply.reason));
    else pending?.resolve(reply);
  });
  const send = (request: RelayRequest): void => {
    if (failure !== undefined) throw failure;
    port.postMessage(request);
    write(wake, one, one.length);
  };
  const request = (make: (request: number) => RelayRequest): Promise<Answer> =>
    new Promise((resolve, reject) => {
      lastRequest += 1;
      waiting.set(lastRequest, { resolve, reject });
      send(make(lastRequest));
    });
  return {
    async open(relay) {
      const answer = await request((number) => ({ kind: 'open', relay, request: number }));
      return answer.kind === 'opened' ? answer.port : 0;
    },
    update: (update) => send({ kind: 'update', update }),
    close: (id) => send({ kind: 'close', id }),
    async totals(): Promise<RelayTotals> {
      const answer = await request((number) => ({ kind: 'totals', request: number }));
      if (answer.kind !== 'totals')
        throw new Error(`Expected totals from the relay thread, got ${answer.kind}`);
      return answer.totals;
    },
    async carried(): Promise<readonly CarriedByRelay[]> {
      const answer = await request((number) => ({ kind: 'carried', request: number }));
      return answer.kind === 'carried' ? answer.relays : [];
    },
    async stop() {
      if (failure === undefined) send({ kind: 'stop' });
      await ended;
    },
  };
}
