import type { ModeDescription } from '../mode.ts';

export const description: ModeDescription = {
  name: 'nftables',
  configuration: { sections: ['nftables'] },
  metrics: {
    syncFailures: {
      name: 'sync_proxy_rules_nftables_sync_failures_total',
      help: 'Writes that nftables refused.',
    },
    cleanupFailures: {
      name: 'sync_proxy_rules_nftables_cleanup_failures_total',
      help: 'Removals of stale chains that nftables refused.',
    },
  },
};
