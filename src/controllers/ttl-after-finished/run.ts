// Deletes finished jobs when their time has passed. Upstream: pkg/controller/ttlafterfinished.
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { jobDefinition } from '../../kinds/job/definition.ts';
import type { Job } from '../../kinds/job/types.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { expiresInMs } from './desired.ts';

type Parts = ControllerParts & {
  readonly jobs: Informer<Job>;
  readonly client: ResourceClient<Job>;
};

export const ttlAfterFinishedController: Controller = {
  name: 'ttl-after-finished-controller',
  shortName: 'ttl-after-finished',
  account: 'ttl-after-finished-controller',
  watches: mayWatch(jobDefinition),
  rights: [may('delete get', jobDefinition)],
  async run(shared, signal) {
    const { caller, informers, clock, log, queueMetrics: metrics, settings } = shared;
    const jobs = informers.of(jobDefinition);
    const parts: Parts = { ...shared, jobs, client: resourceClient(caller, jobDefinition) };
    if (!(await waitForSync([jobs], signal))) return;
    const { queue, ended } = startReconciler(
      {
        name: 'ttl_jobs_to_delete',
        reconcile: (key) => sync(parts, key),
        clock,
        log,
        metrics,
        concurrency: settings.concurrentTtlAfterFinishedSyncs,
      },
      signal,
    );
    const add = (job: Job): void => {
      const waitMs = expiresInMs(job, clock.now());
      if (waitMs !== undefined) queue.addAfter(objectKey(job.metadata), waitMs);
    };
    const stop = jobs.onChange({ add, update: (_before, after) => add(after) });
    await ended;
    stop();
  },
};

async function sync(
  { jobs, client, clock }: Parts,
  key: string,
): Promise<ReconcileResult | undefined> {
  const cached = jobs.store.get(key);
  if (cached === undefined) return undefined;
  const waitMs = expiresInMs(cached, clock.now());
  if (waitMs === undefined) return undefined;
  if (waitMs > 0) return { retryAfterMs: waitMs };
  return expire(client, cached, clock.now());
}

/** The time may just have been prolonged: the server's own copy decides. */
async function expire(
  client: ResourceClient<Job>,
  { metadata }: Job,
  now: number,
): Promise<ReconcileResult | undefined> {
  const { name = '', namespace = '' } = metadata;
  try {
    const fresh = await client.get({ namespace, name });
    const waitMs = expiresInMs(fresh, now);
    if (waitMs === undefined) return undefined;
    if (waitMs > 0) return { retryAfterMs: waitMs };
    const { uid = '', resourceVersion = '' } = fresh.metadata;
    const preconditions = { uid, resourceVersion };
    await client.delete({ namespace, name }, { propagationPolicy: 'Foreground', preconditions });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return undefined;
}
