// Runs jobs: syncs each when it or one of its pods changes. Upstream: pkg/controller/job.
import { applyClaims } from '../../client/apply-claims.ts';
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import {
  createExpectations,
  type Expectations,
  type WriteRecorder,
} from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import {
  byController,
  byNamespace,
  controllerIndex,
  namespaceIndex,
  orphansIn,
} from '../../client/shared-indexes.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { jobDefinition } from '../../kinds/job/definition.ts';
import { defaultJobController, jobTrackingFinalizer } from '../../kinds/job/names.ts';
import type { Job } from '../../kinds/job/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { claimObjects } from '../../meta/claim.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import type { BackOffRecord } from './back-off.ts';
import { startOrphans } from './run-orphans.ts';
import { syncJob } from './run-sync.ts';

/** A sync reads all pods of the job, so changes of a burst are batched. */
const podBatchMs = 20;
const component = 'job-controller';

type Parts = ControllerParts & {
  readonly jobs: Informer<Job>;
  readonly pods: Informer<Pod>;
  readonly client: ResourceClient<Job>;
  readonly recorder: EventRecorder;
  readonly backOffs: Map<string, BackOffRecord>;
};

type Writes = { readonly own: Expectations<Job>; readonly ofPods: Expectations<Pod> };

export const jobController: Controller = {
  name: 'job-controller',
  shortName: 'job',
  account: 'job-controller',
  watches: mayWatch(jobDefinition, podDefinition),
  rights: [
    may('get', jobDefinition),
    may('update', jobDefinition, { subresource: 'status' }),
    mayOwn(jobDefinition),
    may('create delete patch', podDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const parts = createParts(shared);
    const { jobs, pods, clock, log, queueMetrics: metrics } = parts;
    const { concurrentJobSyncs: concurrency } = parts.settings;
    if (!(await waitForSync([jobs, pods], signal))) return;
    const writes: Writes = {
      own: createExpectations({
        clock,
        keyOf: ({ metadata }) => objectKey(metadata),
        changedExternally: (key) => queue.add(key),
      }),
      ofPods: createExpectations({
        clock,
        keyOf: keyOfJob,
        changedExternally: (key) => queue.addAfter(key, podBatchMs),
      }),
    };
    const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
      writes.own.during(key, (jobWriteRecorder) =>
        writes.ofPods.during(key, (writeRecorder) =>
          sync({ ...parts, writes, jobWriteRecorder, writeRecorder }, key),
        ),
      );
    const { queue, ended } = startReconciler(
      { name: 'job', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const orphans = startOrphans(parts, signal);
    const addThoseThatSelect = (pod: Pod): void => {
      for (const key of selecting(parts, pod)) queue.add(key);
    };
    const stops = [
      jobs.onChange(writes.own.handler),
      jobs.onChange({ delete: ({ metadata }) => parts.backOffs.delete(metadata.uid ?? '') }),
      pods.onChange(writes.ofPods.handler),
      pods.onChange({
        add: addThoseThatSelect,
        update: (before, after) => {
          if (isReleased(before, after)) addThoseThatSelect(after);
        },
      }),
      orphans.stop,
    ];
    await Promise.all([ended, orphans.ended]);
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts): Parts {
  const { caller, informers, clock, log } = shared;
  const jobs = informers.of(jobDefinition);
  const pods = informers.of(podDefinition);
  jobs.addIndex(namespaceIndex, byNamespace);
  pods.addIndex(controllerIndex, byController);
  return {
    ...shared,
    jobs,
    pods,
    client: resourceClient(caller, jobDefinition),
    recorder: createEventRecorder({ caller, component, clock, log }),
    backOffs: new Map(),
  };
}

function keyOfJob(pod: Pod): string | undefined {
  const controller = controllerOf(pod);
  if (controller?.kind !== 'Job' || controller.apiVersion !== 'batch/v1') return undefined;
  return objectKey({ namespace: pod.metadata.namespace ?? '', name: controller.name });
}

/** The jobs whose selector matches a pod without a controller. */
function selecting({ jobs }: Parts, pod: Pod): readonly string[] {
  if (controllerOf(pod) !== undefined) return [];
  return jobs.store
    .select(namespaceIndex, pod.metadata.namespace ?? '')
    .filter(({ spec }) =>
      matchesSelector(selectorFromLabelSelector(spec.selector), pod.metadata.labels),
    )
    .map(({ metadata }) => objectKey(metadata));
}

function isReleased(before: Pod, after: Pod): boolean {
  return (
    controllerOf(before)?.uid !== controllerOf(after)?.uid ||
    !deepEqual(before.metadata.labels, after.metadata.labels)
  );
}

type SyncParts = Parts & {
  readonly writes: Writes;
  readonly jobWriteRecorder: WriteRecorder<Job>;
  readonly writeRecorder: WriteRecorder<Pod>;
};

async function sync(parts: SyncParts, key: string): Promise<ReconcileResult | undefined> {
  const { jobs, writes, clock } = parts;
  const cached = jobs.store.get(key);
  const job = cached === undefined ? undefined : writes.own.over(key, [cached])[0];
  if (job === undefined) {
    writes.own.forget(key);
    writes.ofPods.forget(key);
    return undefined;
  }
  if ((job.spec.managedBy ?? defaultJobController) !== defaultJobController) return undefined;
  const pods = await claimPods(parts, job);
  return syncJob({ ...parts, owner: job, pods, now: clock.now() });
}

/** An adopted pod is tracked from then on; one that is released is not. */
async function claimPods(
  { client, caller, pods, writes, writeRecorder }: SyncParts,
  job: Job,
): Promise<readonly Pod[]> {
  const { name = '', namespace = '', uid = '' } = job.metadata;
  const candidates = [
    ...pods.store.select(controllerIndex, uid),
    ...pods.store.select(controllerIndex, orphansIn(namespace)),
  ];
  const known = writes.ofPods.over(objectKey(job.metadata), candidates);
  const selector = selectorFromLabelSelector(job.spec.selector);
  return applyClaims(claimObjects(job, selector, known), {
    client: resourceClient(caller, podDefinition),
    owner: job,
    readOwner: () => client.get({ namespace, name }),
    wrote: writeRecorder.wrote,
    finalizer: jobTrackingFinalizer,
  });
}
