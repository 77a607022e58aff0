// Settings of the kernel that pods depend on. /proc/sys/net shows the namespace of the thread that looks, so all of it is
// synchronous: the threads of Node's pool may be elsewhere.
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

/** Throws where packets would not be passed on. Returns the settings that could not be made and matter less. */
export function applyNodeSettings(bridge: string, families: readonly Family[]): readonly string[] {
  if (families.includes('IPv6') && read(forwarding.IPv6[0]) !== '1') keepAdvertisements();
  for (const family of families) write(...forwarding[family]);
  return tryAll([
    // Host ports answer on 127.0.0.1 too.
    [`ipv4/conf/${bridge}/route_localnet`, '1'],
    // Pods reach each other by way of the node on purpose, and need not be told of a shorter one.
    ['ipv4/conf/all/send_redirects', '0'],
    [`ipv4/conf/${bridge}/send_redirects`, '0'],
    ...linkSettings(bridge, families),
  ]);
}

/** Inside the pod's namespace, before its interface is there: what holds for `default` holds for it from the start. */
export function applyPodSettings(families: readonly Family[]): readonly string[] {
  const redirects: readonly Setting[] = families.includes('IPv6')
    ? [
        ['ipv6/conf/all/accept_redirects', '0'],
        ['ipv6/conf/default/accept_redirects', '0'],
      ]
    : [];
  return tryAll([
    ['ipv4/conf/all/accept_redirects', '0'],
    ['ipv4/conf/default/accept_redirects', '0'],
    ...redirects,
    ...linkSettings('default', families),
    ...(families.includes('IPv6') ? [['ipv6/conf/all/disable_ipv6', '0'] as const] : []),
  ]);
}

/** The node's end carries frames only. */
export function applyPortSettings(port: string, families: readonly Family[]): void {
  if (families.includes('IPv6')) tryAll([[`ipv6/conf/${port}/disable_ipv6`, '1']]);
}

/** IPv6 works at once, without looking for doubles and without listening to routers. */
function linkSettings(link: string, families: readonly Family[]): readonly Setting[] {
  if (!families.includes('IPv6')) return [];
  return [
    [`ipv6/conf/${link}/disable_ipv6`, '0'],
    [`ipv6/conf/${link}/accept_dad`, '0'],
    [`ipv6/conf/${link}/accept_ra`, '0'],
  ];
}

/** A machine that forwards stops listening to routers and would lose its own way out, unless told to go on (2). */
function keepAdvertisements(): void {
  const links = readdirSync(`${root}/ipv6/conf`).filter((name) => name !== 'all' && name !== 'lo');
  tryAll(
    links
      .filter((name) => read(`ipv6/conf/${name}/accept_ra`) === '1')
      .map((name) => [`ipv6/conf/${name}/accept_ra`, '2']),
  );
}

function tryAll(settings: readonly Setting[]): readonly string[] {
  return settings.flatMap(([path, value]) => {
    try {
      write(path, value);
      return [];
    } catch (error) {
      return [`${path.replaceAll('/', '.')}: ${(error as NodeJS.ErrnoException).code}`];
    }
  });
}

/** What is right already is not written: /proc may be read-only. */
function write(path: string, value: string): void {
  if (read(path) === value) return;
  writeFileSync(`${root}/${path}`, `${value}\n`);
}

function read(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8').trim();
}
