// Carries changes of virtual servers out.
import type { Ipvs } from '../../../host/netlink/ipvs.ts';
import { hasCode } from '../../../host/netlink/netlink-error.ts';
import type { Draining } from './apply-draining.ts';
import { unlessMissing } from './apply-kernel.ts';
import type { ServerChange } from './diff.ts';

/** The kernel is asked on this thread: other work of the process gets its turn after so many changes. */
const changesInARow = 256;

export type Servers = { readonly ipvs: Ipvs; readonly draining: Draining };

export async function applyServerChanges(
  servers: Servers,
  changes: readonly ServerChange[],
): Promise<void> {
  for (const [at, change] of changes.entries()) {
    await applyOne(servers, change);
    if (at % changesInARow === changesInARow - 1) await new Promise(setImmediate);
  }
}

async function applyOne({ ipvs, draining }: Servers, change: ServerChange): Promise<void> {
  const { service } = change;
  switch (change.kind) {
    case 'add-server':
      return unlessExisting(ipvs.addService(change.service), () =>
        ipvs.changeService(change.service),
      );
    case 'change-server':
      return ipvs.changeService(change.service);
    case 'delete-server':
      draining.forgetService(service);
      return unlessMissing(ipvs.deleteService(service));
    case 'add-real-server': {
      const weighed = { ...change.realServer, weight: 1 };
      draining.forget(service, weighed);
      return unlessExisting(ipvs.addDestination(service, weighed), () =>
        ipvs.changeDestination(service, weighed),
      );
    }
    case 'drain-real-server':
      draining.add(service, change.realServer);
      return unlessMissing(ipvs.changeDestination(service, { ...change.realServer, weight: 0 }));
    case 'delete-real-server':
      return unlessMissing(ipvs.deleteDestination(service, change.realServer));
  }
}

async function unlessExisting(work: Promise<void>, change: () => Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    await change();
  }
}
