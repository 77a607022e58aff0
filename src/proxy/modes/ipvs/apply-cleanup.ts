// Removes what this mode ever wrote, and nothing else.
import { openIpvs } from '../../../host/netlink/ipvs.ts';
import { openNetlink } from '../../../host/netlink/netlink.ts';
import { findLink } from '../../../host/netlink/route-links.ts';
import { openNetlinkAccess } from '../../../host/nftables/open-table-access.ts';
import type { Family } from '../../model/state.ts';
import {
  type IpvsLocation,
  readAddresses,
  removeInterface,
  unlessMissing,
} from './apply-kernel.ts';
import { dummyInterface, servers, tableOf } from './layout.ts';
import { readServers, readTable, type TableContents } from './read-kernel.ts';

/** Without the table and the interface IPVS is not read, because reading it would load its module. */
export async function cleanUpIpvs(family: Family, location: IpvsLocation = {}): Promise<void> {
  const route = await openNetlink({ ...location, protocol: 'route' });
  const access = await openNetlinkAccess(location);
  try {
    const table = await readTable({ table: access }, family, [servers]);
    const hasInterface = (await findLink(route, dummyInterface)) !== undefined;
    if (!table.isThere && !hasInterface) return;
    // Before the table and the interface, by which they are distinguished from those of other programs.
    const addresses = await readAddresses(route, family);
    await removeServers({ family, location, addresses, table });
    await removeInterface(route, family);
    if (!table.isThere) return;
    await access.apply({ table: tableOf(family), operations: [{ kind: 'delete-table' }] });
  } finally {
    await Promise.all([route.close(), access.close()]);
  }
}

type Removal = {
  readonly family: Family;
  readonly location: IpvsLocation;
  readonly addresses: Awaited<ReturnType<typeof readAddresses>>;
  readonly table: TableContents;
};

async function removeServers({ family, location, addresses, table }: Removal): Promise<void> {
  const ipvs = await openIpvs(location);
  try {
    const options = { family, excludeCIDRs: [], addresses, table, isWanted: () => false };
    for (const { service } of (await readServers({ ipvs }, options)).values()) {
      await unlessMissing(ipvs.deleteService(service));
    }
  } finally {
    await ipvs.close();
  }
}
