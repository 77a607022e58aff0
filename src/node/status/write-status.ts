// Writes the statuses of pods: the latest of each, one write per pod at a time, retried until it succeeds, is refused for good, or the pod
// is forgotten.
import { backOffMs } from '../../client/back-off.ts';
import { isOtherObject, isPermanentRefusal } from '../../client/permanent-refusal.ts';
import type { ResourceClient } from '../../client/rest.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { Log } from '../../observe/log.ts';
import { statusPatch } from './status-patch.ts';

export type StatusWriter = {
  readonly report: (pod: Pod, status: PodStatus) => void;
  /** Resolves when no write for the pod is under way any more: written, refused for good, or forgotten. */
  readonly reported: (uid: string) => Promise<void>;
  /** Resolves when everything reported has been written, or the signal has aborted. */
  readonly settled: () => Promise<void>;
  /** The pod is gone: ends the attempts to write its status. */
  readonly forget: (uid: string) => void;
};

export type StatusWriterOptions = {
  readonly client: ResourceClient<Pod>;
  readonly clock: Clock;
  readonly log: Log;
};

type PendingStatus = {
  pod: Pod;
  wanted: PodStatus;
  /** In the server's last response. */
  stored: PodStatus;
  writing?: Promise<void>;
  /** Resolves `writing`, even while a request hangs. */
  release?: () => void;
  /** Aborts when the pod is forgotten and when the writer shuts down. */
  readonly ending: AbortController;
};

const retryLimits = { firstMs: 200, maxMs: 10_000 };
/** Each write may take a connection of its own: many pods that change together must not open hundreds. */
const maxConcurrentWrites = 16;

type Semaphore = ReturnType<typeof createSemaphore>;

export function createStatusWriter(
  options: StatusWriterOptions,
  signal: AbortSignal,
): StatusWriter {
  const pods = new Map<string, PendingStatus>();
  const semaphore = createSemaphore();
  const end = (one: PendingStatus): void => {
    one.ending.abort();
    one.release?.();
  };
  signal.addEventListener('abort', () => [...pods.values()].forEach(end), { once: true });
  return {
    report(pod, status) {
      if (signal.aborted) return;
      const uid = pod.metadata.uid ?? '';
      const one: PendingStatus = pods.get(uid) ?? {
        ...{ pod, wanted: status, stored: pod.status },
        ending: new AbortController(),
      };
      pods.set(uid, one);
      one.pod = pod;
      one.wanted = status;
      one.writing ??= new Promise<void>((resolve, reject) => {
        one.release = resolve;
        write(options, one, semaphore).then(resolve, reject);
      }).finally(() => {
        delete one.writing;
      });
    },
    reported: async (uid) => pods.get(uid)?.writing,
    async settled() {
      await Promise.all([...pods.values()].map(({ writing }) => writing));
    },
    forget(uid) {
      const one = pods.get(uid);
      if (one !== undefined) end(one);
      pods.delete(uid);
    },
  };
}

async function write(
  options: StatusWriterOptions,
  one: PendingStatus,
  semaphore: Semaphore,
): Promise<void> {
  const { signal } = one.ending;
  for (let failures = 0; !signal.aborted; ) {
    const outcome = await attempt(options, one, semaphore);
    if (outcome === 'done') return;
    if (outcome === 'failed') await sleep(options.clock, backOffMs(retryLimits, failures), signal);
    failures = outcome === 'failed' ? failures + 1 : 0;
  }
}

/** `changed`: another status was reported meanwhile. */
async function attempt(
  options: StatusWriterOptions,
  one: PendingStatus,
  semaphore: Semaphore,
): Promise<'done' | 'changed' | 'failed'> {
  const { signal } = one.ending;
  const { wanted } = one;
  try {
    await semaphore.acquire();
    const isWritten = await writeNewest(options, one, signal).finally(semaphore.release);
    return isWritten ? 'done' : 'changed';
  } catch (error) {
    if (signal.aborted || isGone(error)) return 'done';
    const isFinal = isPermanentRefusal(error);
    logFailure(options, one, { error, isFinal });
    if (!isFinal) return 'failed';
    return one.wanted === wanted ? 'done' : 'changed';
  }
}

/** The pod was deleted, or another one has its name. */
const isGone = (error: unknown): boolean => isNotFound(error) || isOtherObject(error);

function logFailure(
  { log }: StatusWriterOptions,
  { pod: { metadata } }: PendingStatus,
  { error, isFinal }: { readonly error: unknown; readonly isFinal: boolean },
): void {
  const fields = { pod: `${metadata.namespace}/${metadata.name}`, error: String(error) };
  if (isFinal) log.error('Failed to write pod status, giving up', fields);
  else log.warn('Failed to write pod status, retrying', fields);
}

/** Whether the wanted status is written; it may have changed meanwhile. */
async function writeNewest(
  { client }: StatusWriterOptions,
  one: PendingStatus,
  signal: AbortSignal,
): Promise<boolean> {
  const { pod, wanted } = one;
  const status = statusPatch(one.stored, wanted);
  if (status === undefined) return true;
  const { name = '', namespace = '', uid } = pod.metadata;
  // The uid prevents a write to a new pod of the same name.
  const patch = { metadata: { uid }, status };
  const answer = await client.patch({ namespace, name }, patch, {
    type: 'strategic',
    subresource: 'status',
    signal,
  });
  one.stored = answer.status;
  return one.wanted === wanted;
}

function createSemaphore() {
  let free = maxConcurrentWrites;
  const waiting: (() => void)[] = [];
  return {
    async acquire(): Promise<void> {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
    },
    release(): void {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
