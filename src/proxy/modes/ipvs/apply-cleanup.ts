// Removes what this mode ever wrote, and nothing else.
import { openIpvs } from '../../../host/netlink/ipvs.ts';
import { openNetlink } from '../../../host/netlink/netlink.ts';
import { findLink } from '../../../host/netlink/route-links.ts';
import { openNetlinkAccess } from '../../../host/nftables/open-table-access.ts';
import type { Family } from '../../model/state.ts';
import { type Place, readAddresses, removeInterface, unlessMissing } from './apply-kernel.ts';
import { dummyInterface, servers, tableOf } from './layout.ts';
import { readServers, readTable, type TableContents } from './read-kernel.ts';

/** Where there is neither the table nor the interface, IPVS is not even asked: asking loads it into the kernel. */
export async function cleanUpIpvs(family: Family, place: Place = {}): Promise<void> {
  const route = await openNetlink({ ...place, protocol: 'route' });
  const access = await openNetlinkAccess(place);
  try {
    const table = await readTable({ table: access }, family, [servers]);
    const hasInterface = (await findLink(route, dummyInterface)) !== undefined;
    if (!table.isThere && !hasInterface) return;
    // First, as they are told from other programs' by the table and by the interface.
    const addresses = await readAddresses(route, family);
    await removeServers({ family, place, addresses, table });
    await removeInterface(route, family);
    if (!table.isThere) return;
    await access.apply({ table: tableOf(family), operations: [{ kind: 'delete-table' }] });
  } finally {
    await Promise.all([route.close(), access.close()]);
  }
}

type Removal = {
  readonly family: Family;
  readonly place: Place;
  readonly addresses: Awaited<ReturnType<typeof readAddresses>>;
  readonly table: TableContents;
};

async function removeServers({ family, place, addresses, table }: Removal): Promise<void> {
  const ipvs = await openIpvs(place);
  try {
    const question = { family, excludeCIDRs: [], addresses, table, isWanted: () => false };
    for (const { service } of (await readServers({ ipvs }, question)).values()) {
      await unlessMissing(ipvs.deleteService(service));
    }
  } finally {
    await ipvs.close();
  }
}
