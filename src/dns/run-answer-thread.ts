// Starts the answering thread and keeps it: one that breaks is started again with all that is known.
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
  /** Everything that is known now. */
  readonly snapshot: () => Iterable<ZoneChange>;
  readonly isSynced: () => boolean;
  /** Told of answers, as lines, while somebody wants to know. */
  readonly answered: (lines: readonly string[]) => void;
  /** For each thread anew: sockets end with the thread that has them. */
  readonly openSockets?: (address: ServerAddress) => SocketDescriptors;
};

export type AnswerThread = {
  readonly addresses: readonly ServerAddress[];
  readonly inBatches: boolean;
  readonly send: (message: Exclude<ToAnswerer, { kind: 'metrics' | 'stop' }>) => void;
  /** Tells everything that is known once more. */
  readonly resend: () => void;
  /** What the thread measures that is not in shared memory; empty when it does not answer. */
  readonly metricsText: () => Promise<string>;
  readonly ended: Promise<void>;
};

/** A thread that broke is started again, not at once: what broke it is likely still there. */
const restartMs = 500;
const metricsMs = 1000;
const maxChanges = 500;
/** What an answer leaves behind is dead at once: more room for the young would only be memory. */
const maxYoungGenerationSizeMb = 8;
/** How long a thread that was asked to stop may take before it is ended. */
const stopMs = 5000;

/** Rejects when the addresses cannot be had. */
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
      log.error('answering thread broke, starting it again', { reason: running.reason() });
      await sleep(clock, restartMs, signal);
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
    ended: supervise(),
  };
}

function resend(post: (message: ToAnswerer) => void, options: AnswerThreadOptions): void {
  const serial = Math.floor(options.clock.now() / 1000);
  let changes: ZoneChange[] = [];
  for (const change of options.snapshot()) {
    changes.push(change);
    if (changes.length < maxChanges) continue;
    post({ kind: 'changes', changes, serial });
    changes = [];
  }
  post({ kind: 'changes', changes, serial });
  if (options.isSynced()) post({ kind: 'synced' });
}

type Listening = Extract<FromAnswerer, { kind: 'listening' }>;

async function startWorker(workerData: AnswerWorkerOptions, options: AnswerThreadOptions) {
  const worker = new Worker(workerUrl('dns/run-answers-worker'), {
    workerData: { ...workerData, ...openedFor(workerData.listen, options) },
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
      else if (message.kind === 'metrics') scrapes.arrived(message.id, message.text);
      else if (message.kind === 'log') {
        options.log[message.line.level](message.line.message, message.line.fields);
      }
    });
    void exited.then(() => reject(new Error(reason || 'the answering thread ended')));
  });
  const { addresses, inBatches } = await listening;
  return {
    addresses,
    inBatches,
    post,
    exited,
    reason: () => reason,
    metricsText: () => scrapes.ask((id) => post({ kind: 'metrics', id })),
    stop(): void {
      post({ kind: 'stop' });
      const cancel = options.clock.after(stopMs, () => void worker.terminate());
      void exited.then(cancel);
    },
  };
}

function openedFor(
  listen: readonly ServerAddress[],
  { openSockets }: AnswerThreadOptions,
): Pick<AnswerWorkerOptions, 'descriptors'> {
  return openSockets === undefined ? {} : { descriptors: listen.map(openSockets) };
}

/** Questions to the thread and their answers, with a limit to the wait. */
function createScrapes(clock: Clock) {
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  return {
    ask(post: (id: number) => void): Promise<string> {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        const cancel = clock.after(metricsMs, () => waiting.get(id)?.(''));
        waiting.set(id, (text) => {
          cancel();
          waiting.delete(id);
          resolve(text);
        });
        post(id);
      });
    },
    arrived: (id: number, text: string): void => waiting.get(id)?.(text),
    end(): void {
      for (const give of [...waiting.values()]) give('');
    },
  };
}
