// Changes from the actual to the desired links, addresses and routes of the node.
import { type Bridge, type NodeNetwork, type PodRoute, portPrefix } from './desired.ts';

export type ActualLink = {
  readonly name: string;
  readonly kind?: string;
  readonly isUp: boolean;
  readonly mtu: number;
  readonly macAddress?: string;
};

export type ActualNetwork = {
  readonly links: readonly ActualLink[];
  /** Of the bridge, with prefix length; without link-local addresses. */
  readonly bridgeAddresses: readonly string[];
  /** Routes of our protocol number. */
  readonly routes: readonly PodRoute[];
};

export type NetworkChange =
  | { readonly kind: 'delete-link'; readonly name: string }
  | { readonly kind: 'add-bridge' | 'change-bridge'; readonly bridge: Bridge }
  | { readonly kind: 'add-address' | 'delete-address'; readonly address: string }
  | { readonly kind: 'set-route' | 'delete-route'; readonly route: PodRoute };

/** `ports` are the interfaces of running pods; others with our prefix are left over from a previous run. */
export function diffNetwork(
  wanted: NodeNetwork,
  actual: ActualNetwork,
  ports: ReadonlySet<string>,
): readonly NetworkChange[] {
  return [
    ...leftoverPorts(actual, ports),
    ...diffBridge(wanted.bridge, actual),
    ...diffRoutes(wanted.routes, actual.routes),
  ];
}

/** Deletes everything that is ours. */
export function diffToNothing(bridge: string, actual: ActualNetwork): readonly NetworkChange[] {
  const exists = actual.links.some(({ name, kind }) => name === bridge && kind === 'bridge');
  return [
    ...leftoverPorts(actual, new Set()),
    ...diffRoutes([], actual.routes),
    ...(exists ? [{ kind: 'delete-link' as const, name: bridge }] : []),
  ];
}

function leftoverPorts(
  { links }: ActualNetwork,
  ports: ReadonlySet<string>,
): readonly NetworkChange[] {
  return links
    .filter(({ name, kind }) => kind === 'veth' && name.startsWith(portPrefix) && !ports.has(name))
    .map(({ name }) => ({ kind: 'delete-link', name }));
}

function diffBridge(wanted: Bridge, actual: ActualNetwork): readonly NetworkChange[] {
  const link = actual.links.find(({ name }) => name === wanted.name);
  const before = link === undefined ? [] : actual.bridgeAddresses;
  return [
    ...diffBridgeLink(wanted, link),
    ...wanted.addresses
      .filter((address) => !before.includes(address))
      .map((address) => ({ kind: 'add-address' as const, address })),
    ...before
      .filter((address) => !wanted.addresses.includes(address))
      .map((address) => ({ kind: 'delete-address' as const, address })),
  ];
}

function diffBridgeLink(bridge: Bridge, link: ActualLink | undefined): readonly NetworkChange[] {
  if (link === undefined) return [{ kind: 'add-bridge', bridge }];
  const isSame = link.isUp && link.mtu === bridge.mtu && link.macAddress === bridge.macAddress;
  return isSame ? [] : [{ kind: 'change-bridge', bridge }];
}

function diffRoutes(
  wanted: readonly PodRoute[],
  actual: readonly PodRoute[],
): readonly NetworkChange[] {
  const isSame =
    (a: PodRoute) =>
    (b: PodRoute): boolean =>
      a.destination === b.destination && a.gateway === b.gateway;
  // A route with another gateway is replaced, not deleted first: no packet is lost.
  return [
    ...actual
      .filter(({ destination }) => !wanted.some((route) => route.destination === destination))
      .map((route) => ({ kind: 'delete-route' as const, route })),
    ...wanted
      .filter((route) => !actual.some(isSame(route)))
      .map((route) => ({ kind: 'set-route' as const, route })),
  ];
}
