// Applies changes of virtual servers.
import type { Ipvs } from '../../../host/netlink/ipvs.ts';
import { hasCode } from '../../../host/netlink/netlink-error.ts';
import type { Draining } from './apply-draining.ts';
import { unlessMissing } from './apply-kernel.ts';
import { type ServerContents, serviceText } from './contents.ts';
import { diffServer, type ServerChange } from './diff.ts';
import { readRealServers } from './read-kernel.ts';

/** These calls block the thread: it yields to the event loop after this number of changes. */
const changesInARow = 256;

export type Servers = {
  readonly ipvs: Omit<Ipvs, 'listServices' | 'readTimeouts' | 'setTimeouts' | 'close'>;
  readonly draining: Draining;
};

export async function applyServerChanges(
  servers: Servers,
  changes: readonly ServerChange[],
): Promise<void> {
  for (const [at, change] of changes.entries()) {
    await applyOne(servers, change);
    if (at % changesInARow === changesInARow - 1) await new Promise(setImmediate);
  }
}

async function applyOne(servers: Servers, change: ServerChange): Promise<void> {
  const { ipvs, draining } = servers;
  const { service } = change;
  switch (change.kind) {
    case 'add-server':
      return unlessExisting(ipvs.addService(change.service), () => takeOver(servers, change));
    case 'change-server':
      return ipvs.changeService(change.service);
    case 'delete-server':
      draining.cancelService(service);
      return unlessMissing(ipvs.deleteService(service));
    case 'add-real-server': {
      const weighed = { ...change.realServer, weight: 1 };
      draining.cancel(service, weighed);
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

/** The kernel's list omitted this server, or another program made it: its real servers are drained like all that are not desired. */
async function takeOver(servers: Servers, wanted: ServerContents): Promise<void> {
  const { ipvs, draining } = servers;
  const { service } = wanted;
  await ipvs.changeService(service);
  const found = { service, realServers: await readRealServers(ipvs, service) };
  const key = serviceText(service);
  draining.adopt(new Map([[key, found]]), new Map([[key, wanted]]));
  const { come, gone } = diffServer(found, wanted);
  for (const change of [...come, ...gone]) await applyOne(servers, change);
}

async function unlessExisting(work: Promise<void>, change: () => Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    await change();
  }
}
