// Writes the statuses of pods: the newest of each, one write at a time, until it is there.
import { backOffMs } from '../client/back-off.ts';
import type { ResourceClient } from '../client/rest.ts';
import { type Clock, sleep } from '../host/clock.ts';
import type { PodStatus } from '../kinds/pod/pod-status.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { isConflict, isNotFound } from '../meta/api-error.ts';
import type { Log } from '../observe/log.ts';
import { statusPatch } from './status-patch.ts';

export type StatusWriter = {
  readonly report: (pod: Pod, status: PodStatus) => void;
  readonly reported: (uid: string) => Promise<void>;
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

const retryLimits = { firstMs: 200, mostMs: 10_000 };

export function createStatusWriter(
  options: StatusWriterOptions,
  signal: AbortSignal,
): StatusWriter {
  const pods = new Map<string, Reporting>();
  return {
    report(pod, status) {
      const uid = pod.metadata.uid ?? '';
      const one = pods.get(uid) ?? { pod, wanted: status, known: pod.status };
      pods.set(uid, one);
      one.pod = pod;
      one.wanted = status;
      one.writing ??= write(options, one, signal).finally(() => {
        delete one.writing;
      });
    },
    reported: async (uid) => pods.get(uid)?.writing,
    forget: (uid) => void pods.delete(uid),
  };
}

async function write(
  { client, clock, log }: StatusWriterOptions,
  one: Reporting,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const { pod, wanted } = one;
    const status = statusPatch(one.known, wanted);
    if (status === undefined) return;
    const { name = '', namespace = '', uid } = pod.metadata;
    try {
      // The uid keeps a status from reaching another pod of the same name.
      const patch = { metadata: { uid }, status };
      const answer = await client.patch({ namespace, name }, patch, {
        type: 'strategic',
        subresource: 'status',
      });
      one.known = answer.status;
      failures = 0;
      if (one.wanted === wanted) return;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      log.warn('status could not be written', {
        pod: `${namespace}/${name}`,
        error: String(error),
      });
      await sleep(clock, backOffMs(retryLimits, failures), signal);
      failures += 1;
    }
  }
}
