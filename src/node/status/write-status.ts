// Writes the statuses of pods: the latest of each, one write per pod at a time, retried until it succeeds.
import { backOffMs } from '../../client/back-off.ts';
import type { ResourceClient } from '../../client/rest.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isConflict, isNotFound } from '../../meta/api-error.ts';
import type { Log } from '../../observe/log.ts';
import { statusPatch } from './status-patch.ts';

export type StatusWriter = {
  readonly report: (pod: Pod, status: PodStatus) => void;
  readonly reported: (uid: string) => Promise<void>;
  /** Resolves when everything reported has been written, or the signal has aborted. */
  readonly settled: () => Promise<void>;
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
  return {
    report(pod, status) {
      const uid = pod.metadata.uid ?? '';
      const one = pods.get(uid) ?? { pod, wanted: status, stored: pod.status };
      pods.set(uid, one);
      one.pod = pod;
      one.wanted = status;
      one.writing ??= write(options, one, semaphore, signal).finally(() => {
        delete one.writing;
      });
    },
    reported: async (uid) => pods.get(uid)?.writing,
    async settled() {
      await Promise.all([...pods.values()].map(({ writing }) => writing));
    },
    forget: (uid) => void pods.delete(uid),
  };
}

async function write(
  options: StatusWriterOptions,
  one: PendingStatus,
  semaphore: Semaphore,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      await semaphore.acquire();
      const isWritten = await writeNewest(options, one, signal).finally(semaphore.release);
      failures = 0;
      if (isWritten) return;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      const { name, namespace } = one.pod.metadata;
      log.warn('Failed to write pod status, retrying', {
        pod: `${namespace}/${name}`,
        error: String(error),
      });
      await sleep(clock, backOffMs(retryLimits, failures), signal);
      failures += 1;
    }
  }
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
