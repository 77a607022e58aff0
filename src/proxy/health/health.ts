// Whether the proxy keeps up: for each family, since when a change has been waiting for the kernel (KPX-32..34).

import { toBeDeletedTaint } from '../../meta/well-known-taints.ts';
import type { Family } from '../model/state.ts';
import type { NodeObject } from '../node-view/node-object.ts';

export type FamilyHealth = { readonly lastUpdated: number; readonly isHealthy: boolean };

export type HealthReport = {
  /** Of all families the latest; 0 before the first. */
  readonly lastUpdated: number;
  readonly isHealthy: boolean;
  readonly families: ReadonlyMap<Family, FamilyHealth>;
};

export type ProxyHealth = {
  /** A change waits from now on, unless one does already. */
  readonly queued: (family: Family, now: number) => void;
  /** Everything that waited when the sync started is in the kernel. */
  readonly updated: (family: Family, startedAt: number, now: number) => void;
  readonly report: (now: number) => HealthReport;
};

type Waiting = { lastUpdated: number; oldestQueued?: number };

export function createProxyHealth(families: readonly Family[], timeoutMs: number): ProxyHealth {
  const states = new Map<Family, Waiting>(families.map((family) => [family, { lastUpdated: 0 }]));
  return {
    queued(family, now) {
      const state = states.get(family);
      if (state !== undefined) state.oldestQueued ??= now;
    },
    updated(family, startedAt, now) {
      const state = states.get(family);
      if (state === undefined) return;
      state.lastUpdated = now;
      // What was queued while the sync ran is for the next one.
      if (state.oldestQueued !== undefined && state.oldestQueued <= startedAt) {
        delete state.oldestQueued;
      }
    },
    report(now) {
      const reports = new Map<Family, FamilyHealth>();
      for (const [family, { lastUpdated, oldestQueued }] of states) {
        // With nothing waiting it is healthy, also before it has ever written anything: the old rules still stand.
        const isHealthy = oldestQueued === undefined || now - oldestQueued <= timeoutMs;
        reports.set(family, { lastUpdated, isHealthy });
      }
      const all = [...reports.values()];
      return {
        lastUpdated: Math.max(0, ...all.map((one) => one.lastUpdated)),
        isHealthy: all.every((one) => one.isHealthy),
        families: reports,
      };
    },
  };
}

/** Whether a balancer may send new connections here: not to a node that is about to go (KPX-34). */
export function isEligible(node: NodeObject | undefined): boolean {
  if (node === undefined || node.metadata.deletionTimestamp !== undefined) return false;
  return !(node.spec.taints ?? []).some(({ key }) => key === toBeDeletedTaint);
}
