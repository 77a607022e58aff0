import { isLoopbackOnly } from '../../node-view/node-addresses.ts';
import type { ModeDescription, ModeSettings } from '../mode.ts';
import { localhostFlag, readSettings } from './settings.ts';

export const description: ModeDescription = {
  name: 'iptables',
  flags: [
    {
      name: localhostFlag,
      value: '<bool>',
      help: 'allows NodePort connections to 127.0.0.1 (default: true)',
    },
  ],
  hasSyncPeriodFlags: true,
  configuration: {
    sections: ['iptables'],
    fields: [{ name: 'localhostNodePorts', type: 'boolean', flag: localhostFlag }],
  },
  metrics: {
    syncFailures: {
      name: 'sync_proxy_rules_iptables_restore_failures_total',
      help: 'Full writes that iptables refused.',
    },
    partialSyncFailures: {
      name: 'sync_proxy_rules_iptables_partial_restore_failures_total',
      help: 'Partial writes that iptables refused.',
    },
    rules: { name: 'sync_proxy_rules_iptables_total', help: 'Rules in the kernel by table.' },
    written: {
      name: 'sync_proxy_rules_iptables_last',
      help: 'Rules written by the last sync by table.',
    },
    invalidDropped: {
      name: 'iptables_ct_state_invalid_dropped_packets_total',
      help: 'Packets dropped because conntrack found them invalid.',
    },
    loopbackAccepted: {
      name: 'iptables_localhost_nodeports_accepted_packets_total',
      help: 'Connections to node ports on the loopback.',
    },
  },
  checkSettings,
};

/** KPX-30: node ports on the loopback alone need the flag that opens them there. */
function checkSettings(settings: ModeSettings, nodePortAddresses: readonly string[]): void {
  if (readSettings(settings).answersOnLoopback || !isLoopbackOnly(nodePortAddresses)) return;
  throw new RangeError(
    `--nodeport-addresses names the loopback alone, where --${localhostFlag}=false closes node ports`,
  );
}
