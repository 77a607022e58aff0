// Makes the isolated network: a namespace for the lan with a bridge, one for each node, and a cable between. Nothing has a name on
// the machine: what was made is gone with the process.
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
/** Locally administered, and seen by nobody outside. */
const bridgeMac = '02:66:6c:00:00:01';
/** The node's end of its cable. */
const nodeInterface = 'eth0';

export async function buildLan(plan: LanPlan): Promise<BuiltLan> {
  const held: HeldNamespace[] = [];
  const make = (): HeldNamespace => {
    const namespace = createNamespace();
    held.push(namespace);
    return namespace;
  };
  const lan = make();
  const route = await openNetlink({ protocol: 'route', namespacePath: lan.path });
  await changeLink(route, 'lo', { isUp: true });
  await addLink(route, { name: bridge, kind: 'bridge' });
  // Without one of its own a bridge takes that of a port, and changes it when that port goes: neighbours would lose it.
  await changeLink(route, bridge, { macAddress: bridgeMac });
  await giveAddresses(route, bridge, plan, plan.gateways);
  await changeLink(route, bridge, { isUp: true });
  const nodes = plan.nodes.map(make);
  for (const [index, node] of plan.nodes.entries()) {
    const path = nodes[index]?.path ?? '';
    await plugIn(route, node, path);
    await prepareNode(node, path, plan);
  }
  return {
    path: lan.path,
    nodePaths: nodes.map(({ path }) => path),
    addRoute: (destination, gateway) => replaceRoute(route, { destination, gateway }),
    async release() {
      await route.close();
      for (const { release } of held) release();
    },
  };
}

async function plugIn(route: Netlink, { name }: NodePlan, namespacePath: string): Promise<void> {
  await addLink(route, { name, kind: 'veth', peer: { name: nodeInterface, namespacePath } });
  await changeLink(route, name, { master: bridge, isUp: true });
}

async function prepareNode(node: NodePlan, namespacePath: string, plan: LanPlan): Promise<void> {
  const route = await openNetlink({ protocol: 'route', namespacePath });
  try {
    await changeLink(route, 'lo', { isUp: true });
    await giveAddresses(route, nodeInterface, plan, node.addresses);
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

async function giveAddresses(
  route: Netlink,
  name: string,
  { ranges }: LanPlan,
  addresses: readonly string[],
): Promise<void> {
  for (const [index, address] of addresses.entries()) {
    await addAddress(route, {
      interface: name,
      address: `${address}/${ranges[index]?.prefix ?? 64}`,
      // Nobody else is here who could have it.
      skipsDuplicateDetection: address.includes(':'),
    });
  }
}

/** Where this machine has routes to, so that people are not confused by addresses that exist twice. */
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
  const switchedOff = '/proc/sys/net/ipv6/conf/all/disable_ipv6';
  return existsSync(switchedOff) && readFileSync(switchedOff, 'utf8').trim() === '0';
}
