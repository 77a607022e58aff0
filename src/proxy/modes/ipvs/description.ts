import type { ModeDescription } from '../mode.ts';
import { dummyInterface } from './layout.ts';
import { readSettings, schedulers } from './settings.ts';

export const description: ModeDescription = {
  name: 'ipvs',
  // KPX-50: in kube-proxy's words.
  deprecation: {
    reason: 'IPVSDeprecation',
    message: 'The ipvs proxy mode is now deprecated and will be removed in a future version.',
  },
  // IVS-11, as the documentation of Services promises.
  fallback: 'iptables',
  flags: [
    {
      name: 'ipvs-scheduler',
      value: '<name>',
      help: `scheduling algorithm: ${schedulers.slice(0, -1).join(', ')} or ${schedulers.at(-1)} (default: rr)`,
      isForUp: true,
    },
    {
      name: 'ipvs-exclude-cidrs',
      value: '<cidrs>',
      help: 'CIDRs of virtual servers to leave unchanged',
    },
    {
      name: 'ipvs-strict-arp',
      help: 'answers ARP requests only for addresses of the receiving interface',
    },
    {
      name: 'ipvs-tcp-timeout',
      value: '<time>',
      help: "idle timeout of TCP connections (default: the kernel's)",
    },
    {
      name: 'ipvs-tcpfin-timeout',
      value: '<time>',
      help: "timeout of TCP connections after FIN (default: the kernel's)",
    },
    {
      name: 'ipvs-udp-timeout',
      value: '<time>',
      help: "idle timeout of UDP flows (default: the kernel's)",
    },
  ],
  hasSyncPeriodFlags: true,
  configuration: {
    // Rules of iptables masquerade what goes to virtual servers, with the settings of either section.
    sections: ['iptables', 'ipvs'],
    fields: [
      { name: 'scheduler', type: 'text', flag: 'ipvs-scheduler' },
      { name: 'excludeCIDRs', type: 'list', flag: 'ipvs-exclude-cidrs' },
      { name: 'strictARP', type: 'boolean', flag: 'ipvs-strict-arp' },
      { name: 'tcpTimeout', type: 'text', flag: 'ipvs-tcp-timeout' },
      { name: 'tcpFinTimeout', type: 'text', flag: 'ipvs-tcpfin-timeout' },
      { name: 'udpTimeout', type: 'text', flag: 'ipvs-udp-timeout' },
    ],
  },
  interfaces: [dummyInterface],
  checkSettings: (settings) => void readSettings(settings),
};
