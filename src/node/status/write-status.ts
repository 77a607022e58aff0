// Writes the statuses of pods: the newest of each, one write at a time, until it is there.
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
  /** Resolves when all that was reported is written, or given up because the signal came first. */
  readonly settled: () => Promise<void>;
  readonly forget: (uid: string) => void;
};

export type StatusWriterOptions = {
  readonly client: ResourceClient<Pod>;
  readonly clock: Clock;
  readonly log: Log;
};

type Reporting = {
  pod: Pod;
  wanted: PodStatus;
  /** As the server last answered. */
  known: PodStatus;
  writing?: Promise<void>;
};

const retryLimits = { firstMs: 200, maxMs: 10_000 };
/** Each takes a connection of its own: a node full of pods that all change at once must not open hundreds. */
const maxAtOnce = 16;

type Slots = ReturnType<typeof createSlots>;

export function createStatusWriter(
  options: StatusWriterOptions,
  signal: AbortSignal,
): StatusWriter {
  const pods = new Map<string, Reporting>();
  const slots = createSlots();
  return {
    report(pod, status) {
      const uid = pod.metadata.uid ?? '';
      const one = pods.get(uid) ?? { pod, wanted: status, known: pod.status };
      pods.set(uid, one);
      one.pod = pod;
      one.wanted = status;
      one.writing ??= write(options, one, slots, signal).finally(() => {
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
  one: Reporting,
  slots: Slots,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      await slots.take();
      const isWritten = await writeNewest(options, one, signal).finally(slots.pass);
      failures = 0;
      if (isWritten) return;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      const { name, namespace } = one.pod.metadata;
      log.warn('status could not be written', {
        pod: `${namespace}/${name}`,
        error: String(error),
      });
      await sleep(clock, backOffMs(retryLimits, failures), signal);
      failures += 1;
    }
  }
}

/** Whether what is wanted is there now; it may have changed meanwhile. */
async function writeNewest(
  { client }: StatusWriterOptions,
  one: Reporting,
  signal: AbortSignal,
): Promise<boolean> {
  const { pod, wanted } = one;
  const status = statusPatch(one.known, wanted);
  if (status === undefined) return true;
  const { name = '', namespace = '', uid } = pod.metadata;
  // The uid keeps a status from reaching another pod of the same name.
  const patch = { metadata: { uid }, status };
  const answer = await client.patch({ namespace, name }, patch, {
    type: 'strategic',
    subresource: 'status',
    signal,
  });
  one.known = answer.status;
  return one.wanted === wanted;
}

function createSlots() {
  let free = maxAtOnce;
  const waiting: (() => void)[] = [];
  return {
    async take(): Promise<void> {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
    },
    pass(): void {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
