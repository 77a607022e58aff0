// Counts what a namespace uses when a quota is new or changed. From then on the API server keeps the numbers itself, in the
// transactions that write and delete objects; every few minutes they are counted anew nevertheless.
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { sleep } from '../../host/clock.ts';
import { allKinds } from '../../kinds/all.ts';
import { everything, may, mayWatch } from '../../kinds/rbac/rights.ts';
import { resourceQuotaDefinition } from '../../kinds/resource-quota/definition.ts';
import type { ResourceQuota } from '../../kinds/resource-quota/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { groupResource, type KubeObject, objectKey } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller } from '../controller.ts';
import { countedResources, measuredStatus } from './desired.ts';

/** Upstream's default of --resource-quota-sync-period. */
const resyncMs = 5 * 60_000;
const concurrency = 5;
const backOff = { firstMs: 20, maxMs: 5000 };

const kinds = new Map(
  allKinds
    .filter(({ namespaced, storedAs }) => namespaced && storedAs === undefined)
    .map((kind) => [groupResource(kind.group, kind.plural), kind]),
);

/** The others are counted by their number. */
const neededWhole: ReadonlySet<string> = new Set(['pods', 'services', 'persistentvolumeclaims']);

export const resourceQuotaController: Controller = {
  name: 'resourcequota-controller',
  shortName: 'resourcequota',
  account: 'resourcequota-controller',
  watches: mayWatch(resourceQuotaDefinition),
  rights: [
    may('list', everything),
    may('update', resourceQuotaDefinition, { subresource: 'status' }),
  ],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const quotas = informers.of(resourceQuotaDefinition);
    const client = resourceClient(caller, resourceQuotaDefinition);
    if (!(await waitForSync([quotas], signal))) return;
    /** Those that are counted although nothing says that they need it. */
    const due = new Set<string>();

    const reconcile = async (key: string): Promise<undefined> => {
      const quota = quotas.store.get(key);
      if (quota === undefined || (!due.has(key) && isCountedAlready(quota))) return;
      const status = await measure(quota);
      // The version of the quota was read before the objects: a write that is charged meanwhile makes this one fail.
      if (!deepEqual(status, quota.status))
        await client.update({ ...quota, status }, { subresource: 'status' }).catch(ignoreMissing);
      due.delete(key);
    };
    async function measure(quota: ResourceQuota): Promise<ResourceQuota['status']> {
      const { namespace = '' } = quota.metadata;
      const objects = new Map<string, readonly KubeObject[]>();
      for (const resource of countedResources(quota)) {
        const kind = kinds.get(resource);
        if (kind === undefined) continue;
        const metadataOnly = !neededWhole.has(resource);
        const list = await resourceClient<KubeObject>(caller, kind).list({
          ...{ namespace, signal, metadataOnly },
        });
        objects.set(resource, list.items);
      }
      return measuredStatus(quota, objects);
    }
    const { queue, ended } = startReconciler(
      { name: 'resource_quota', reconcile, clock, log, metrics, concurrency, backOff },
      signal,
    );
    const add = ({ metadata }: ResourceQuota): void => queue.add(objectKey(metadata));
    const stop = quotas.onChange({ add, update: (_before, after) => add(after) });
    const resync = async (): Promise<void> => {
      while (!signal.aborted) {
        await sleep(clock, resyncMs, signal);
        if (signal.aborted) return;
        for (const { metadata } of quotas.store.values()) {
          due.add(objectKey(metadata));
          queue.add(objectKey(metadata));
        }
      }
    };
    await Promise.all([ended, resync()]);
    stop();
  },
};

function isCountedAlready(quota: ResourceQuota): boolean {
  const { spec, status } = quota;
  if (!deepEqual(spec.hard ?? {}, status.hard ?? {})) return false;
  const countable = countedResources(quota).filter((resource) => kinds.has(resource));
  const wanted = Object.keys(
    measuredStatus(quota, new Map(countable.map((resource) => [resource, []]))).used ?? {},
  );
  const { used = {} } = status;
  return (
    wanted.every((name) => used[name] !== undefined) &&
    Object.keys(used).every((name) => wanted.includes(name))
  );
}

function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
