// Reads the node's links, addresses and routes, and changes them.
import type { Netlink } from '../../host/netlink/netlink.ts';
import { addAddress, deleteAddress, listAddresses } from '../../host/netlink/route-addresses.ts';
import { addLink, changeLink, deleteLink, listLinks } from '../../host/netlink/route-links.ts';
import {
  deleteRoute,
  listRoutes,
  replaceRoute,
  routeTable,
} from '../../host/netlink/route-routes.ts';
import type { Family } from '../../ip/address.ts';
import { applyNodeSettings } from './apply-settings.ts';
import type { PodRoute } from './desired.ts';
import type { ActualNetwork, NetworkChange } from './diff.ts';

/** The protocol of our routes: a number that is not assigned in /etc/iproute2/rt_protos. */
const routeProtocol = 70;

export async function readNetwork(route: Netlink, bridge: string): Promise<ActualNetwork> {
  const links = await listLinks(route);
  const index = links.find(({ name }) => name === bridge)?.index;
  const addresses = index === undefined ? [] : await listAddresses(route, { interface: bridge });
  const routes = await listRoutes(route, { protocol: routeProtocol, table: routeTable.main });
  return {
    links,
    bridgeAddresses: addresses
      .filter(({ scope, interfaceIndex }) => scope === 'global' && interfaceIndex === index)
      .map(({ address, prefixLength }) => `${address}/${prefixLength}`),
    routes: routes.flatMap(({ destination, gateway }): PodRoute[] =>
      gateway === undefined ? [] : [{ destination, gateway }],
    ),
  };
}

export type ApplyTarget = {
  readonly route: Netlink;
  readonly bridge: string;
  readonly families: readonly Family[];
};

/** Continues after a route that the kernel refuses. Returns the problems. */
export async function applyNetwork(
  target: ApplyTarget,
  changes: readonly NetworkChange[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const change of changes) {
    try {
      problems.push(...(await applyChange(target, change)));
    } catch (error) {
      if (change.kind !== 'set-route') throw error;
      problems.push(
        `route to ${change.route.destination} through ${change.route.gateway}: ${(error as Error).message}`,
      );
    }
  }
  return problems;
}

async function applyChange(
  { route, bridge, families }: ApplyTarget,
  change: NetworkChange,
): Promise<readonly string[]> {
  switch (change.kind) {
    case 'delete-link':
      await deleteLink(route, change.name);
      return [];
    case 'add-bridge':
    case 'change-bridge': {
      const { name, mtu, macAddress } = change.bridge;
      if (change.kind === 'add-bridge')
        await addLink(route, { kind: 'bridge', name, mtu, macAddress });
      else await changeLink(route, name, { mtu, macAddress });
      const problems = applyNodeSettings(name, families);
      await changeLink(route, name, { isUp: true });
      return problems;
    }
    case 'add-address':
      await addAddress(route, {
        interface: bridge,
        address: change.address,
        skipsDuplicateDetection: true,
      });
      return [];
    case 'delete-address':
      await deleteAddress(route, { interface: bridge, address: change.address });
      return [];
    case 'set-route':
      await replaceRoute(route, { ...change.route, protocol: routeProtocol });
      return [];
    case 'delete-route':
      await deleteRoute(route, { ...change.route, protocol: routeProtocol });
      return [];
  }
}

/** Pods have the MTU of the node's interface. */
const defaultMtu = 1500;

export async function readMtu(route: Netlink, nodeIPs: readonly string[]): Promise<number> {
  const addresses = await listAddresses(route);
  const own = addresses.find(({ address }) => nodeIPs.includes(address));
  const link = (await listLinks(route)).find(({ index }) => index === own?.interfaceIndex);
  return link === undefined || link.isLoopback ? defaultMtu : link.mtu;
}
