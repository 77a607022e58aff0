// What can be set of the local provider.
import type { ProviderFlag } from '../../provider.ts';

export const localFlags = [
  {
    key: 'loadBalancerPool',
    flag: '--load-balancer-pool <ranges>',
    meaning:
      'local: addresses for load balancers: IPv4 and IPv6 CIDRs or FIRST-LAST ranges, separated by commas',
  },
  {
    key: 'loadBalancerInternalPool',
    flag: '--load-balancer-internal-pool <ranges>',
    meaning: 'local: addresses for load balancers of Services annotated as internal',
  },
] as const satisfies readonly ProviderFlag[];
