// Pods whose job has gone keep the finalizer that only its controller removes.
import type { ApiCaller } from '../../client/api-call.ts';
import type { Informer } from '../../client/informer.ts';
import { type Reconciler, startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { controllerIndex } from '../../client/shared-indexes.ts';
import { jobDefinition } from '../../kinds/job/definition.ts';
import type { Job } from '../../kinds/job/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import type { ControllerParts } from '../controller.ts';
import { releasePod } from './apply.ts';
import { isTracked } from './pod-state.ts';

export type Orphans = {
  readonly ended: Reconciler['ended'];
  readonly stop: () => void;
};

type Parts = ControllerParts & {
  readonly jobs: Informer<Job>;
  readonly pods: Informer<Pod>;
};

const concurrency = 5;

export function startOrphans(parts: Parts, signal: AbortSignal): Orphans {
  const { jobs, pods, clock, log, queueMetrics: metrics } = parts;
  const reconcile = async (key: string): Promise<undefined> => {
    const pod = pods.store.get(key);
    if (pod === undefined || !isTracked(pod) || (await hasJob(parts, pod))) return;
    const failure = await releasePod({ caller: parts.caller, writeRecorder: ignored }, pod);
    if (failure !== undefined) throw new Error(failure);
  };
  const { queue, ended } = startReconciler(
    { name: 'job_orphan_pod', reconcile, clock, log, metrics, concurrency },
    signal,
  );
  const check = (pod: Pod): void => {
    if (isTracked(pod) && jobOf(jobs, pod) === undefined) queue.add(objectKey(pod.metadata));
  };
  const stops = [
    pods.onChange({ add: check, update: (_before, after) => check(after) }),
    jobs.onChange({
      delete: ({ metadata }) => {
        for (const pod of pods.store.select(controllerIndex, metadata.uid ?? '')) check(pod);
      },
    }),
  ];
  return {
    ended,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

const ignored = { wrote() {}, deleted() {} };

/** The job in the cache that controls the pod. */
function jobOf(jobs: Informer<Job>, pod: Pod): Job | undefined {
  const controller = controllerOf(pod);
  const key = objectKey({
    namespace: pod.metadata.namespace ?? '',
    name: controller?.name ?? '',
  });
  const job = controller === undefined ? undefined : jobs.store.get(key);
  return job?.metadata.uid === controller?.uid ? job : undefined;
}

/** The informer may not show a job yet: the server is asked before a finalizer goes. Other owners remove it themselves. */
async function hasJob({ caller, jobs }: Parts, pod: Pod): Promise<boolean> {
  const controller = controllerOf(pod);
  if (controller === undefined) return false;
  if (controller.kind !== 'Job' || controller.apiVersion !== 'batch/v1') return true;
  if (jobOf(jobs, pod) !== undefined) return true;
  const { namespace = '' } = pod.metadata;
  const live = await readJob(caller, { namespace, name: controller.name });
  return live?.metadata.uid === controller.uid;
}

async function readJob(
  caller: ApiCaller,
  name: { readonly namespace: string; readonly name: string },
): Promise<KubeObject | undefined> {
  try {
    return await resourceClient(caller, jobDefinition).get(name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
