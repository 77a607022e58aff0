// Creates the isolated network: a network namespace for the LAN with a bridge, one for each node, and a veth pair between them. The
// namespaces have no names on the machine, so everything disappears with the process.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createNamespace, type HeldNamespace, insideNamespace } from '../host/namespaces.ts';
import { type Netlink, openNetlink } from '../host/netlink/netlink.ts';
import { addAddress } from '../host/netlink/route-addresses.ts';
import { addLink, changeLink } from '../host/netlink/route-links.ts';
import { addRoute, listRoutes, replaceRoute } from '../host/netlink/route-routes.ts';
import type { Family } from '../ip/address.ts';
import { type Cidr, parseCidr } from '../ip/cidr.ts';
import type { LanPlan, NodePlan } from './plan-lan.ts';

export type BuiltLan = {
  readonly path: string;
  readonly nodePaths: readonly string[];
  readonly addRoute: (destination: string, gateway: string) => Promise<void>;
  readonly release: () => Promise<void>;
};

const bridge = 'lan0';
/** Locally administered; not visible outside the namespace. */
const bridgeMac = '02:66:6c:00:00:01';
/** The node's end of its veth pair. */
const nodeInterface = 'eth0';

export async function buildLan(plan: LanPlan): Promise<BuiltLan> {
  const namespaces: HeldNamespace[] = [];
  const addNamespace = (): HeldNamespace => {
    const namespace = createNamespace();
    namespaces.push(namespace);
    return namespace;
  };
  const lan = addNamespace();
  const route = await openNetlink({ protocol: 'route', namespacePath: lan.path });
  await changeLink(route, 'lo', { isUp: true });
  await addLink(route, { name: bridge, kind: 'bridge' });
  // A bridge without a MAC address of its own uses that of a port, and changes it when the port is deleted: neighbour entries
  // would become stale.
  await changeLink(route, bridge, { macAddress: bridgeMac });
  await addAddresses(route, bridge, plan, plan.gateways);
  await changeLink(route, bridge, { isUp: true });
  const nodes = plan.nodes.map(addNamespace);
  for (const [index, node] of plan.nodes.entries()) {
    const path = nodes[index]?.path ?? '';
    await connectNode(route, node, path);
    await configureNode(node, path, plan);
  }
  return {
    path: lan.path,
    nodePaths: nodes.map(({ path }) => path),
    addRoute: (destination, gateway) => replaceRoute(route, { destination, gateway }),
    async release() {
      await route.close();
      for (const { release } of namespaces) release();
    },
  };
}

async function connectNode(
  route: Netlink,
  { name }: NodePlan,
  namespacePath: string,
): Promise<void> {
  await addLink(route, { name, kind: 'veth', peer: { name: nodeInterface, namespacePath } });
  await changeLink(route, name, { master: bridge, isUp: true });
}

async function configureNode(node: NodePlan, namespacePath: string, plan: LanPlan): Promise<void> {
  const route = await openNetlink({ protocol: 'route', namespacePath });
  try {
    await changeLink(route, 'lo', { isUp: true });
    await addAddresses(route, nodeInterface, plan, node.addresses);
    await changeLink(route, nodeInterface, { isUp: true });
    for (const gateway of plan.gateways) {
      const destination = gateway.includes(':') ? '::/0' : '0.0.0.0/0';
      await addRoute(route, { destination, gateway });
    }
  } finally {
    await route.close();
  }
  insideNamespace(namespacePath, () => {
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1\n');
    if (hasIPv6()) writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1\n');
  });
}

async function addAddresses(
  route: Netlink,
  name: string,
  { ranges }: LanPlan,
  addresses: readonly string[],
): Promise<void> {
  for (const [index, address] of addresses.entries()) {
    await addAddress(route, {
      interface: name,
      address: `${address}/${ranges[index]?.prefix ?? 64}`,
      // No other host can have the address.
      skipsDuplicateDetection: address.includes(':'),
    });
  }
}

/** The ranges that this machine has routes to: the plan avoids them, so that no address exists twice. */
export async function readHostRanges(): Promise<readonly Cidr[]> {
  const route = await openNetlink({ protocol: 'route' });
  try {
    const routes = await listRoutes(route);
    return routes.flatMap(({ destination }) => parseCidr(destination) ?? []);
  } finally {
    await route.close();
  }
}

export function machineFamilies(): readonly Family[] {
  return hasIPv6() ? ['IPv4', 'IPv6'] : ['IPv4'];
}

function hasIPv6(): boolean {
  const disableFile = '/proc/sys/net/ipv6/conf/all/disable_ipv6';
  return existsSync(disableFile) && readFileSync(disableFile, 'utf8').trim() === '0';
}
