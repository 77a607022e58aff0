// The network in which the scenarios were recorded: two nodes with three pods each, and two clients outside whose way to virtual addresses
// leads through the first node. The recording runner makes it with some hundred runs of `ip`; here no program is run.
import { writeFileSync } from 'node:fs';
import { createNamespace, insideNamespace } from '../../../src/host/namespaces.ts';
import { type Netlink, openNetlink } from '../../../src/host/netlink/netlink.ts';
import { addAddress } from '../../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink, setHairpin } from '../../../src/host/netlink/route-links.ts';
import { addRoute } from '../../../src/host/netlink/route-routes.ts';

type Addresses = readonly [ipv4: string, ipv6: string];

export const nodeNames = ['n1', 'n2'] as const;
export type NodeName = (typeof nodeNames)[number];

/** Those that serve; the others only call. */
export const backendNames = ['a1', 'a2', 'a3', 'a4'] as const;
const podsOf = { n1: ['a1', 'a2', 'c1'], n2: ['a3', 'a4', 'c2'] } as const;
const outsideNames = ['ext', 'ext2'] as const;

const addresses: Readonly<Record<string, Addresses>> = {
  lan: ['10.20.0.1', 'fd20::1'],
  n1: ['10.20.0.11', 'fd20::11'],
  n2: ['10.20.0.12', 'fd20::12'],
  ext: ['10.20.0.100', 'fd20::100'],
  ext2: ['10.20.0.101', 'fd20::101'],
  a1: ['10.244.1.11', 'fd44:1::11'],
  a2: ['10.244.1.12', 'fd44:1::12'],
  c1: ['10.244.1.50', 'fd44:1::50'],
  a3: ['10.244.2.13', 'fd44:2::13'],
  a4: ['10.244.2.14', 'fd44:2::14'],
  c2: ['10.244.2.50', 'fd44:2::50'],
};

export function addressesOf(name: string): Addresses {
  const found = addresses[name];
  if (found === undefined) throw new Error(`The lab has no "${name}"`);
  return found;
}

/** Where the pods' bridge of a node is, which is their way to everywhere. */
const bridgeOf = (node: NodeName): Addresses => [`10.244.${node[1]}.1`, `fd44:${node[1]}::1`];
export const podRangesOf = (node: NodeName): Addresses => [
  `10.244.${node[1]}.0/24`,
  `fd44:${node[1]}::/64`,
];

/** The name of the host with an address; a node also has that of its bridge. The address itself if no host has it. */
export function ownerOf(address: string): string {
  const node = nodeNames.find((name) => bridgeOf(name).includes(address));
  const found = Object.keys(addresses).find((name) => addresses[name]?.includes(address));
  return node ?? found ?? address;
}

export type Lab = {
  /** The path of its network namespace. */
  readonly pathOf: (name: string) => string;
  readonly release: () => Promise<void>;
};

/** A namespace with its own connection to the kernel. */
type Site = { readonly name: string; readonly path: string; readonly route: Netlink };

export async function makeLab(): Promise<Lab> {
  const sites = new Map<string, Site>();
  const releases: (() => unknown)[] = [];
  for (const name of Object.keys(addresses)) {
    const { path, release } = createNamespace();
    const route = await openNetlink({ protocol: 'route', namespacePath: path });
    releases.push(route.close, release);
    sites.set(name, { name, path, route });
    await changeLink(route, 'lo', { isUp: true });
  }
  const site = (name: string): Site => {
    const found = sites.get(name);
    if (found === undefined) throw new Error(`The lab has no "${name}"`);
    return found;
  };
  const lan = site('lan');
  await addBridge(lan, 'lan', addressesOf('lan'));
  for (const name of [...nodeNames, ...outsideNames]) {
    write(site(name), noRedirects);
    await plugIn(site(name), { at: lan, bridge: 'lan' });
  }
  for (const name of nodeNames) await makeNode(site(name), podsOf[name].map(site));
  for (const name of outsideNames) await addDefaultRoute(site(name), addressesOf('n1'));
  return {
    pathOf: (name) => site(name).path,
    release: async () => {
      for (const release of releases) await release();
    },
  };
}

async function makeNode(node: Site, pods: readonly Site[]): Promise<void> {
  const [name, other] = node.name === 'n1' ? nodeNames : nodeNames.toReversed();
  if (name === undefined || other === undefined) throw new Error('A lab has two nodes');
  write(node, asRouter);
  await addBridge(node, 'pods', bridgeOf(name));
  const [gateway4, gateway6] = addressesOf(other);
  const [range4, range6] = podRangesOf(other);
  await addRoute(node.route, { destination: range4, gateway: gateway4 });
  await addRoute(node.route, { destination: range6, gateway: gateway6 });
  await addDefaultRoute(node, addressesOf('lan'));
  for (const pod of pods) {
    await plugIn(pod, { at: node, bridge: 'pods' });
    // A pod that reaches itself through a Service.
    await setHairpin(node.route, portOf(pod), true);
    await addDefaultRoute(pod, bridgeOf(name));
  }
}

async function addBridge({ route }: Site, name: string, own: Addresses): Promise<void> {
  await addLink(route, { kind: 'bridge', name });
  await changeLink(route, name, { isUp: true });
  await giveAddresses(route, name, own);
}

const portOf = ({ name }: Site): string => `to-${name}`;

async function plugIn(
  site: Site,
  { at, bridge }: { readonly at: Site; readonly bridge: string },
): Promise<void> {
  const name = portOf(site);
  const peer = { name: 'eth0', namespacePath: site.path };
  await addLink(at.route, { kind: 'veth', name, peer });
  await changeLink(at.route, name, { master: bridge, isUp: true });
  await changeLink(site.route, 'eth0', { isUp: true });
  await giveAddresses(site.route, 'eth0', addressesOf(site.name));
}

async function giveAddresses(route: Netlink, link: string, [ipv4, ipv6]: Addresses): Promise<void> {
  await addAddress(route, { interface: link, address: `${ipv4}/24` });
  const address = `${ipv6}/64`;
  await addAddress(route, { interface: link, address, skipsDuplicateDetection: true });
}

async function addDefaultRoute({ route }: Site, [ipv4, ipv6]: Addresses): Promise<void> {
  await addRoute(route, { destination: '0.0.0.0/0', gateway: ipv4 });
  await addRoute(route, { destination: '::/0', gateway: ipv6 });
}

/** A redirect that was learnt before the rules are there would outlive them. */
const noRedirects = ['all', 'default'].flatMap((link) => [
  [`ipv4/conf/${link}/accept_redirects`, '0'] as const,
  [`ipv4/conf/${link}/send_redirects`, '0'] as const,
  [`ipv6/conf/${link}/accept_redirects`, '0'] as const,
]);

/** Every ICMP error is sent: the scenarios count them. */
const asRouter = [
  ['ipv4/ip_forward', '1'],
  ['ipv6/conf/all/forwarding', '1'],
  ['ipv4/conf/all/rp_filter', '0'],
  ['ipv4/conf/default/rp_filter', '0'],
  ['ipv4/icmp_ratelimit', '0'],
  ['ipv4/icmp_msgs_per_sec', '100000'],
  ['ipv6/icmp/ratelimit', '0'],
] as const;

function write({ path }: Site, settings: readonly (readonly [string, string])[]): void {
  insideNamespace(path, () => {
    for (const [name, value] of settings) writeFileSync(`/proc/sys/net/${name}`, value);
  });
}
