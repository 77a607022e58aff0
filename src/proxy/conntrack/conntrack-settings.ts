// The kernel settings of connection tracking for the configuration (KPX-47).
import type { ConntrackSettings } from '../config.ts';

export type KernelSetting = {
  /** Below /proc/sys. */
  readonly path: string;
  readonly value: number;
  /** A larger current value is kept. */
  readonly isMinimum: boolean;
};

const folder = 'net/netfilter';

export function conntrackSettings(
  settings: ConntrackSettings,
  cores: number,
): readonly KernelSetting[] {
  const max = settings.maxPerCore === 0 ? 0 : Math.max(settings.maxPerCore * cores, settings.min);
  const wanted = [
    { path: `${folder}/nf_conntrack_max`, value: max, isMinimum: true },
    ...timeouts(settings),
    ...(settings.tcpBeLiberal
      ? [{ path: `${folder}/nf_conntrack_tcp_be_liberal`, value: 1, isMinimum: false }]
      : []),
    ...(settings.accounting
      ? [{ path: `${folder}/nf_conntrack_acct`, value: 1, isMinimum: false }]
      : []),
  ];
  return wanted.filter(({ value }) => value > 0);
}

function timeouts(settings: ConntrackSettings): readonly KernelSetting[] {
  const names = [
    ['nf_conntrack_tcp_timeout_established', settings.tcpEstablishedTimeoutMs],
    ['nf_conntrack_tcp_timeout_close_wait', settings.tcpCloseWaitTimeoutMs],
    ['nf_conntrack_udp_timeout', settings.udpTimeoutMs],
    ['nf_conntrack_udp_timeout_stream', settings.udpStreamTimeoutMs],
  ] as const;
  return names.map(([name, ms]) => ({
    path: `${folder}/${name}`,
    value: Math.round(ms / 1000),
    isMinimum: false,
  }));
}
