// Runs the syncs of one family: collects changes, writes them at bounded intervals, and checks periodically what was written.

import { beginWork, endWork, type WorkDescription } from '../observe/current-work.ts';
import { createPendingChanges } from './model/pending-changes.ts';
import { startBoundedRun } from './run-bounded.ts';
import { createSync, type SyncOptions } from './run-sync.ts';

export type FamilyOptions = Omit<SyncOptions, 'pending'> & {
  /** Absent: in proportion to how long a sync takes. */
  readonly minSyncPeriodMs?: number;
  readonly syncPeriodMs: number;
  /** Called once, after the first write. */
  readonly afterFirstWrite: () => Promise<unknown>;
};

export type FamilyRun = {
  readonly serviceChanged: (serviceKey: string) => void;
  /** `triggeredAt`: the endpoints' last change trigger time, if known. */
  readonly endpointsChanged: (serviceKey: string, triggeredAt?: number) => void;
  readonly nodeChanged: () => void;
  /** Endpoints with these addresses were added or removed. */
  readonly addressesChanged: (addresses: readonly string[]) => void;
  readonly ended: Promise<void>;
};

export function startFamily(options: FamilyOptions, signal: AbortSignal): FamilyRun {
  const { family, clock, metrics, health, minSyncPeriodMs, syncPeriodMs } = options;
  const labels = { ip_family: family };
  const pending = createPendingChanges();
  const sync = createSync({ ...options, pending });
  let hasWritten = false;
  const run = async (reason: 'change' | 'period'): Promise<boolean> => {
    const work = beginWork({ family, reason }, describeSync);
    try {
      const isDone = await sync.run(reason);
      if (isDone && !hasWritten) {
        hasWritten = true;
        await options.afterFirstWrite();
      }
      return isDone;
    } finally {
      endWork(work);
    }
  };
  const bounded = startBoundedRun(
    {
      ...{ clock, run, maxIntervalMs: syncPeriodMs },
      ...(minSyncPeriodMs === undefined ? {} : { minIntervalMs: minSyncPeriodMs }),
    },
    signal,
  );
  const request = (): void => {
    const now = clock.now();
    pending.queued(now);
    options.rules.changed();
    health.queued(family, now);
    metrics.lastQueued.set(labels, now / 1000);
    bounded.request();
  };
  return {
    serviceChanged(key) {
      pending.addServices([key]);
      metrics.serviceChanges.add(labels);
      metrics.serviceChangesPending.set(labels, pending.counts().services);
      request();
    },
    endpointsChanged(key, triggeredAt) {
      pending.addEndpoints(key, triggeredAt);
      metrics.endpointChanges.add(labels);
      metrics.endpointChangesPending.set(labels, pending.counts().endpoints);
      request();
    },
    nodeChanged() {
      pending.addNode();
      request();
    },
    addressesChanged(addresses) {
      const keys = sync.naming(addresses);
      if (keys.length === 0) return;
      pending.addServices(keys);
      request();
    },
    ended: bounded.ended,
  };
}

function describeSync(sync: { readonly family: string; readonly reason: string }): WorkDescription {
  return { kind: 'sync', ...sync };
}
