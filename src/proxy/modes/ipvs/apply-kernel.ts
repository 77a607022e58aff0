// The kernel's side of this mode: the table, the virtual servers, and the interface with their addresses.
import { type Ipvs, openIpvs, type VirtualService } from '../../../host/netlink/ipvs.ts';
import { type Netlink, openNetlink } from '../../../host/netlink/netlink.ts';
import { hasCode } from '../../../host/netlink/netlink-error.ts';
import {
  addAddress,
  deleteAddress,
  type InterfaceAddress,
  listAddresses,
} from '../../../host/netlink/route-addresses.ts';
import { addLink, deleteLink, findLink } from '../../../host/netlink/route-links.ts';
import { openNetlinkAccess } from '../../../host/nftables/open-table-access.ts';
import type { TableAccess } from '../../../host/nftables/table-access.ts';
import type { Family } from '../../model/state.ts';
import { dummyInterface } from './layout.ts';

export type IpvsLocation = {
  /** The network namespace; absent: that of this process. */
  readonly namespacePath?: string;
};

export type Kernel = {
  readonly table: TableAccess;
  readonly ipvs: Ipvs;
  readonly route: Netlink;
  readonly close: () => Promise<void>;
};

/** Throws with code ENOENT when the kernel has no IPVS. `thread`: where transactions of the table run. */
export async function openKernel(
  location: IpvsLocation = {},
  thread: 'caller' | 'own' = 'own',
): Promise<Kernel> {
  const opened: { readonly close: () => Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    const ipvs = await openIpvs(location);
    opened.push(ipvs);
    const route = await openNetlink({ ...location, protocol: 'route' });
    opened.push(route);
    const table = await openNetlinkAccess({ ...location, thread });
    opened.push(table);
    return { table, ipvs, route, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Both families share it. It stays down: local routes need no more, and nothing is sent or announced there. */
export async function ensureInterface(route: Netlink): Promise<void> {
  if ((await findLink(route, dummyInterface)) !== undefined) return;
  try {
    await addLink(route, { name: dummyInterface, kind: 'dummy' });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

export type LocalAddresses = {
  /** On the dummy interface. */
  readonly ours: readonly string[];
  /** On others, where packets can come to: not on loopback, not of one link only. */
  readonly others: readonly string[];
};

export async function readAddresses(route: Netlink, family: Family): Promise<LocalAddresses> {
  const dummy = await findLink(route, dummyInterface);
  const addresses = await listAddresses(route, { family });
  const isOurs = (one: InterfaceAddress): boolean => one.interfaceIndex === dummy?.index;
  const usable = addresses.filter(({ scope }) => scope === 'global' || scope === 'site');
  return {
    ours: usable.filter(isOurs).map(({ address }) => address),
    others: usable.filter((one) => !isOurs(one)).map(({ address }) => address),
  };
}

export async function bindAddress(route: Netlink, address: string): Promise<void> {
  await addAddress(route, { interface: dummyInterface, address, skipsDuplicateDetection: true });
}

export async function unbindAddress(route: Netlink, address: string): Promise<void> {
  await deleteAddress(route, { interface: dummyInterface, address });
}

/** Removes the interface with its last address of either family. */
export async function removeInterface(route: Netlink, family: Family): Promise<void> {
  const dummy = await findLink(route, dummyInterface);
  if (dummy === undefined) return;
  const addresses = (await listAddresses(route)).filter(
    ({ interfaceIndex, scope }) => interfaceIndex === dummy.index && scope === 'global',
  );
  for (const one of addresses) {
    if (one.family === family) await unbindAddress(route, one.address);
  }
  if (addresses.every((one) => one.family === family)) await deleteLink(route, dummyInterface);
}

export async function listServicesOf(
  ipvs: Pick<Ipvs, 'listServices'>,
  family: Family,
): Promise<VirtualService[]> {
  const isOfFamily = ({ address }: VirtualService): boolean =>
    address.includes(':') === (family === 'IPv6');
  return (await ipvs.listServices()).filter(isOfFamily);
}

/** Ignores that the object does not exist. */
export async function unlessMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ESRCH')) throw error;
  }
}
