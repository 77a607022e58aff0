// Attaches one pod to the bridge: a network namespace with one end of a veth pair, whose other end is a port of the bridge.
import { createNamespace, type HeldNamespace, insideNamespace } from '../../host/namespaces.ts';
import { type Netlink, openNetlink } from '../../host/netlink/netlink.ts';
import { addAddress } from '../../host/netlink/route-addresses.ts';
import {
  addLink,
  changeLink,
  deleteLink,
  requireLink,
  setHairpin,
} from '../../host/netlink/route-links.ts';
import { addRoute } from '../../host/netlink/route-routes.ts';
import { type Family, familyOf } from '../../ip/address.ts';
import { hostCidr } from './address-pool.ts';
import { applyPodSettings, applyPortSettings } from './apply-settings.ts';
import { macAddressFor } from './desired.ts';

export type PodLink = {
  readonly port: string;
  readonly bridge: string;
  readonly mtu: number;
  readonly ips: readonly string[];
  /** The node's addresses on the bridge, of the same families. */
  readonly gateways: readonly string[];
};

const podInterface = 'eth0';

/** Cleans up when it fails. The namespace exists until it is released and no process is in it. */
export async function attachPod(route: Netlink, link: PodLink): Promise<HeldNamespace> {
  const namespace = createNamespace();
  try {
    const families = link.ips.flatMap((ip) => familyOf(ip) ?? []);
    insideNamespace(namespace.path, () => applyPodSettings(families));
    await addVethPair(route, link, { namespace, families });
    await configurePod(link, namespace);
    return namespace;
  } catch (error) {
    namespace.release();
    await deleteLink(route, link.port);
    throw error;
  }
}

type PodSide = { readonly namespace: HeldNamespace; readonly families: readonly Family[] };

async function addVethPair(
  route: Netlink,
  { port, bridge, mtu, ips }: PodLink,
  { namespace, families }: PodSide,
): Promise<void> {
  // A previous run of the agent may have left the interface.
  await deleteLink(route, port);
  await addLink(route, {
    kind: 'veth',
    name: port,
    mtu,
    peer: {
      name: podInterface,
      namespacePath: namespace.path,
      macAddress: macAddressFor(ips[0] ?? ''),
    },
  });
  applyPortSettings(port, families);
  await changeLink(route, port, { master: bridge, isUp: true });
  await setHairpin(route, port, true);
}

async function configurePod(
  { mtu, ips, gateways }: PodLink,
  { path }: HeldNamespace,
): Promise<void> {
  const inside = await openNetlink({ protocol: 'route', namespacePath: path });
  try {
    await changeLink(inside, 'lo', { isUp: true });
    await changeLink(inside, podInterface, { isUp: true, mtu });
    const { index: interfaceIndex } = await requireLink(inside, podInterface);
    for (const ip of ips) {
      await addAddress(inside, {
        interface: podInterface,
        address: hostCidr(ip),
        skipsDuplicateDetection: true,
      });
    }
    for (const gateway of gateways) {
      const destination = familyOf(gateway) === 'IPv4' ? '0.0.0.0/0' : '::/0';
      await addRoute(inside, { destination: hostCidr(gateway), interfaceIndex });
      await addRoute(inside, { destination, gateway, interfaceIndex });
    }
  } finally {
    await inside.close();
  }
}
