// Reads the virtual servers for a comparison.
import { openIpvs } from '../../../host/netlink/ipvs.ts';
import type { ProxyState } from '../../model/state.ts';
import type { Drift } from '../mode.ts';
import { listServicesOf } from './apply-kernel.ts';
import { type ServerContents, serviceText } from './contents.ts';
import { driftOf, wantedServers } from './drift.ts';
import { readRealServers } from './read-kernel.ts';
import { readSettings } from './settings.ts';

/** Undefined: the kernel has no virtual server of the family at all. */
export async function readDrift(state: ProxyState): Promise<Drift | undefined> {
  const wanted = wantedServers(state, readSettings({}).scheduler);
  const ipvs = await openIpvs({});
  try {
    const services = await listServicesOf(ipvs, state.node.family);
    if (services.length === 0) return undefined;
    const found = new Map<string, ServerContents>();
    for (const service of services) {
      const key = serviceText(service);
      if (!wanted.has(key)) continue;
      found.set(key, { service, realServers: await readRealServers(ipvs, service) });
    }
    return driftOf(found, wanted);
  } finally {
    await ipvs.close();
  }
}
