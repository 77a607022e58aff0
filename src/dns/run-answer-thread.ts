// Supervises the answering thread: restarts it after a failure and sends it the current state.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Clock, sleep } from '../host/clock.ts';
import { workerUrl } from '../host/worker-url.ts';
import type { Log } from '../observe/log.ts';
import type { ZoneChange } from './cluster/zone.ts';
import type { ServerAddress, ServerGroup } from './forward/upstream-servers.ts';
import type {
  AnswerWorkerOptions,
  FromAnswerer,
  SocketDescriptors,
  ToAnswerer,
} from './messages.ts';

export type AnswerThreadOptions = {
  readonly worker: AnswerWorkerOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** The current state, as changes. */
  readonly snapshot: () => Iterable<ZoneChange>;
  readonly isSynced: () => boolean;
  /** Called with lines of the query log while it is on. */
  readonly answered: (lines: readonly string[]) => void;
  /** Called for each thread, as sockets are closed with their thread. */
  readonly openSockets?: (address: ServerAddress) => SocketDescriptors;
};

export type AnswerThread = {
  readonly addresses: readonly ServerAddress[];
  readonly inBatches: boolean;
  readonly send: (message: Exclude<ToAnswerer, { kind: 'metrics' | 'apply' | 'stop' }>) => void;
  /** Sends the current state again. */
  readonly resend: () => void;
  /** The thread's metrics outside of shared memory; empty when it does not answer. */
  readonly metricsText: () => Promise<string>;
  /** Resolves when it answers by everything that was sent before; false when it does not respond. */
  readonly applied: () => Promise<boolean>;
  readonly ended: Promise<void>;
};

/** Back-off before a restart: the cause of the failure likely persists. */
const restartDelayMs = 500;
const metricsTimeoutMs = 1000;
const changesPerMessage = 500;
/** Garbage of a query is short-lived: a larger young generation would only use memory. */
const maxYoungGenerationSizeMb = 8;
/** How long the thread may take to stop before it is terminated. */
const stopTimeoutMs = 5000;

/** Rejects when an address cannot be bound. */
export async function startAnswerThread(
  options: AnswerThreadOptions,
  signal: AbortSignal,
): Promise<AnswerThread> {
  const { clock, log } = options;
  let groups: readonly ServerGroup[] = options.worker.groups;
  let isLogging = false;
  let running = await startWorker(options.worker, options);
  const { addresses, inBatches } = running;
  const supervise = async (): Promise<void> => {
    const stop = (): void => running.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    for (;;) {
      await running.exited;
      if (signal.aborted) return;
      log.error('Answering thread failed, restarting', { reason: running.reason() });
      await sleep(clock, restartDelayMs, signal);
      if (signal.aborted) return;
      running = await startWorker({ ...options.worker, listen: addresses, groups }, options);
      resend(running.post, options);
      running.post({ kind: 'log', isOn: isLogging });
    }
  };
  return {
    addresses,
    inBatches,
    send(message) {
      if (message.kind === 'servers') groups = message.groups;
      if (message.kind === 'log') isLogging = message.isOn;
      running.post(message);
    },
    resend: () => resend(running.post, options),
    metricsText: () => running.metricsText(),
    applied: () => running.applied(),
    ended: supervise(),
  };
}

function resend(post: (message: ToAnswerer) => void, options: AnswerThreadOptions): void {
  const serial = Math.floor(options.clock.now() / 1000);
  let changes: ZoneChange[] = [];
  for (const change of options.snapshot()) {
    changes.push(change);
    if (changes.length < changesPerMessage) continue;
    post({ kind: 'changes', changes, serial });
    changes = [];
  }
  post({ kind: 'changes', changes, serial });
  if (options.isSynced()) post({ kind: 'synced' });
}

type Listening = Extract<FromAnswerer, { kind: 'listening' }>;

async function startWorker(workerData: AnswerWorkerOptions, options: AnswerThreadOptions) {
  const worker = new Worker(workerUrl('dns/run-answers-worker'), {
    workerData: { ...workerData, ...socketsFor(workerData.listen, options) },
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  const scrapes = createScrapes(options.clock);
  let reason = '';
  const exited = once(worker, 'exit').then(scrapes.end, scrapes.end);
  worker.on('error', (error: Error) => {
    reason = error.stack ?? error.message;
  });
  const post = (message: ToAnswerer): void => worker.postMessage(message);
  const listening = new Promise<Listening>((resolve, reject) => {
    worker.on('message', (message: FromAnswerer) => {
      if (message.kind === 'listening') resolve(message);
      else if (message.kind === 'failed') {
        reason = message.message;
        reject(new Error(message.message));
      } else if (message.kind === 'answered') options.answered(message.lines);
      else if ('id' in message) scrapes.received(message.id, message.text);
      else if (message.kind === 'log') {
        options.log[message.line.level](message.line.message, message.line.fields);
      }
    });
    void exited.then(() => reject(new Error(reason || 'the answering thread exited')));
  });
  const { addresses, inBatches } = await listening;
  return {
    addresses,
    inBatches,
    post,
    exited,
    reason: () => reason,
    metricsText: () => scrapes.request((id) => post({ kind: 'metrics', id })),
    applied: async () => (await scrapes.request((id) => post({ kind: 'apply', id }))) !== '',
    stop(): void {
      post({ kind: 'stop' });
      const cancel = options.clock.after(stopTimeoutMs, () => void worker.terminate());
      void exited.then(cancel);
    },
  };
}

function socketsFor(
  listen: readonly ServerAddress[],
  { openSockets }: AnswerThreadOptions,
): Pick<AnswerWorkerOptions, 'descriptors'> {
  return openSockets === undefined ? {} : { descriptors: listen.map(openSockets) };
}

/** Requests to the thread for a text, with a timeout. */
function createScrapes(clock: Clock) {
  const pending = new Map<number, (text: string) => void>();
  let last = 0;
  return {
    request(post: (id: number) => void): Promise<string> {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        const cancel = clock.after(metricsTimeoutMs, () => pending.get(id)?.(''));
        pending.set(id, (text) => {
          cancel();
          pending.delete(id);
          resolve(text);
        });
        post(id);
      });
    },
    received: (id: number, text: string): void => pending.get(id)?.(text),
    end(): void {
      for (const resolvePending of [...pending.values()]) resolvePending('');
    },
  };
}
