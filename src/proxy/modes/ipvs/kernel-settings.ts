// Which settings of the kernel are wanted, and why.
import type { Family } from '../../model/state.ts';
import type { IpvsSettings } from './settings.ts';

export type KernelSetting = {
  /** Under /proc/sys/net. */
  readonly path: string;
  readonly value: string;
  readonly isNeeded: boolean;
};

export type SettingFacts = Pick<IpvsSettings, 'isStrictARP'> & {
  /** As `uname -r` prints it. */
  readonly kernelRelease: string;
};

export function kernelSettings(
  family: Family,
  { isStrictARP, kernelRelease }: SettingFacts,
): readonly KernelSetting[] {
  const vs = (name: string, value = '1'): KernelSetting => ({
    path: `ipv4/vs/${name}`,
    value,
    isNeeded: name === 'conntrack',
  });
  const plain = (path: string, value: string): KernelSetting => ({ path, value, isNeeded: false });
  return [
    // Masquerading, and every rule that asks for new connections, work on tracked connections only.
    vs('conntrack'),
    ...(isReuseSlow(kernelRelease) ? [vs('conn_reuse_mode', '0')] : []),
    // Connections to a real server that was deleted end at once, and a client sticks to none that is leaving.
    vs('expire_nodest_conn'),
    vs('expire_quiescent_template'),
    plain(family === 'IPv4' ? 'ipv4/ip_forward' : 'ipv6/conf/all/forwarding', '1'),
    ...(isStrictARP
      ? [plain('ipv4/conf/all/arp_ignore', '1'), plain('ipv4/conf/all/arp_announce', '2')]
      : []),
  ];
}

/** Before 5.9 a client that used its port again waited a second for its connection. */
function isReuseSlow(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split(/[.-]/).map(Number);
  return major < 5 || (major === 5 && minor < 9);
}
