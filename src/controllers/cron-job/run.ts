// Starts jobs on schedules: syncs each cron job when it is due, and when it or one of its jobs changes. Upstream: pkg/controller/cronjob.
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import {
  createExpectations,
  type Expectations,
  type WriteRecorder,
} from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { byController, controllerIndex } from '../../client/shared-indexes.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { cronJobDefinition } from '../../kinds/cron-job/definition.ts';
import { findTimeZone, type TimeZone, utc } from '../../kinds/cron-job/time-zone.ts';
import type { CronJob } from '../../kinds/cron-job/types.ts';
import { jobDefinition } from '../../kinds/job/definition.ts';
import type { Job } from '../../kinds/job/types.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { syncCronJob } from './run-sync.ts';

const component = 'cronjob-controller';

type Parts = ControllerParts & {
  readonly cronJobs: Informer<CronJob>;
  readonly jobs: Informer<Job>;
  readonly client: ResourceClient<CronJob>;
  readonly recorder: EventRecorder;
  readonly localZone: TimeZone;
};

export const cronJobController: Controller = {
  name: 'cronjob-controller',
  shortName: 'cronjob',
  account: 'cronjob-controller',
  watches: mayWatch(cronJobDefinition, jobDefinition),
  rights: [
    may('update', cronJobDefinition, { subresource: 'status' }),
    mayOwn(cronJobDefinition),
    may('create delete get', jobDefinition),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const parts = createParts(shared);
    const { cronJobs, jobs, clock, log, queueMetrics: metrics } = parts;
    const { concurrentCronJobSyncs: concurrency } = parts.settings;
    if (!(await waitForSync([cronJobs, jobs], signal))) return;
    const own = createExpectations<CronJob>({
      clock,
      keyOf: ({ metadata }) => objectKey(metadata),
      changedExternally: (key) => queue.add(key),
    });
    const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
      own.during(key, (recorded) => sync(parts, own, recorded, key));
    const { queue, ended } = startReconciler(
      { name: 'cronjob', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const addOwner = (job: Job): void => {
      const controller = controllerOf(job);
      if (controller?.kind !== 'CronJob' || controller.apiVersion !== 'batch/v1') return;
      queue.add(objectKey({ namespace: job.metadata.namespace ?? '', name: controller.name }));
    };
    const stops = [
      cronJobs.onChange(own.handler),
      jobs.onChange({
        add: addOwner,
        update: (_before, after) => addOwner(after),
        delete: addOwner,
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts): Parts {
  const { caller, informers, clock, log } = shared;
  const jobs = informers.of(jobDefinition);
  jobs.addIndex(controllerIndex, byController);
  // As kube-controller-manager, which takes the zone of its machine.
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return {
    ...shared,
    cronJobs: informers.of(cronJobDefinition),
    jobs,
    client: resourceClient(caller, cronJobDefinition),
    recorder: createEventRecorder({ caller, component, clock, log }),
    localZone: findTimeZone(timeZone) ?? utc,
  };
}

async function sync(
  parts: Parts,
  own: Expectations<CronJob>,
  { wrote }: WriteRecorder<CronJob>,
  key: string,
): Promise<ReconcileResult | undefined> {
  const cached = parts.cronJobs.store.get(key);
  const cronJob = cached === undefined ? undefined : own.over(key, [cached])[0];
  if (cronJob === undefined) {
    own.forget(key);
    return undefined;
  }
  const jobs = parts.jobs.store.select(controllerIndex, cronJob.metadata.uid ?? '');
  return syncCronJob({ ...parts, cronJob, jobs, wrote, now: parts.clock.now() });
}
