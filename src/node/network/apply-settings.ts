// Kernel settings that pods depend on. /proc/sys/net shows the network namespace of the reading thread, so all access is synchronous:
// threads of Node's pool may be in another namespace.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Family } from '../../ip/address.ts';

const root = '/proc/sys/net';
type Setting = readonly [path: string, value: string];

const forwarding: Readonly<Record<Family, Setting>> = {
  IPv4: ['ipv4/ip_forward', '1'],
  IPv6: ['ipv6/conf/all/forwarding', '1'],
};

export function kernelHas(family: Family): boolean {
  return existsSync(`${root}/${family === 'IPv4' ? 'ipv4' : 'ipv6'}`);
}

/** Throws if forwarding cannot be enabled. Returns problems with optional settings. */
export function applyNodeSettings(bridge: string, families: readonly Family[]): readonly string[] {
  if (families.includes('IPv6') && read(forwarding.IPv6[0]) !== '1') keepRouterAdvertisements();
  for (const family of families) write(...forwarding[family]);
  return writeOptional([
    // For host ports on 127.0.0.1.
    [`ipv4/conf/${bridge}/route_localnet`, '1'],
    // Pods reach each other through the node on purpose: no ICMP redirects.
    ['ipv4/conf/all/send_redirects', '0'],
    [`ipv4/conf/${bridge}/send_redirects`, '0'],
    ...linkSettings(bridge, families),
  ]);
}

/** Inside the pod's namespace, before its interface exists, which inherits the settings of `default`. */
export function applyPodSettings(families: readonly Family[]): readonly string[] {
  const redirects: readonly Setting[] = families.includes('IPv6')
    ? [
        ['ipv6/conf/all/accept_redirects', '0'],
        ['ipv6/conf/default/accept_redirects', '0'],
      ]
    : [];
  return writeOptional([
    ['ipv4/conf/all/accept_redirects', '0'],
    ['ipv4/conf/default/accept_redirects', '0'],
    ...redirects,
    ...linkSettings('default', families),
    ...(families.includes('IPv6') ? [['ipv6/conf/all/disable_ipv6', '0'] as const] : []),
  ]);
}

/** The node's end of the veth pair needs no IPv6 address. */
export function applyPortSettings(port: string, families: readonly Family[]): void {
  if (families.includes('IPv6')) writeOptional([[`ipv6/conf/${port}/disable_ipv6`, '1']]);
}

/** IPv6 addresses work immediately: no duplicate address detection, no router advertisements. */
function linkSettings(link: string, families: readonly Family[]): readonly Setting[] {
  if (!families.includes('IPv6')) return [];
  return [
    [`ipv6/conf/${link}/disable_ipv6`, '0'],
    [`ipv6/conf/${link}/accept_dad`, '0'],
    [`ipv6/conf/${link}/accept_ra`, '0'],
  ];
}

/** With forwarding enabled, the kernel ignores router advertisements and the node would lose its default route, unless accept_ra is 2. */
function keepRouterAdvertisements(): void {
  const links = readdirSync(`${root}/ipv6/conf`).filter((name) => name !== 'all' && name !== 'lo');
  writeOptional(
    links
      .filter((name) => read(`ipv6/conf/${name}/accept_ra`) === '1')
      .map((name) => [`ipv6/conf/${name}/accept_ra`, '2']),
  );
}

function writeOptional(settings: readonly Setting[]): readonly string[] {
  return settings.flatMap(([path, value]) => {
    try {
      write(path, value);
      return [];
    } catch (error) {
      return [`${path.replaceAll('/', '.')}: ${(error as NodeJS.ErrnoException).code}`];
    }
  });
}

/** Does not write a value that is already set: /proc may be read-only. */
function write(path: string, value: string): void {
  if (read(path) === value) return;
  writeFileSync(`${root}/${path}`, `${value}\n`);
}

function read(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8').trim();
}
