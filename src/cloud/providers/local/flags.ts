// What can be set of the local provider.
import type { ProviderFlag } from '../../provider.ts';

export const localFlags = [
  {
    key: 'loadBalancerPool',
    flag: '--load-balancer-pool <ranges>',
    meaning:
      'local: addresses for balancers, as CIDRs or FIRST-LAST with commas between, IPv4 and IPv6',
  },
  {
    key: 'loadBalancerInternalPool',
    flag: '--load-balancer-internal-pool <ranges>',
    meaning: 'local: the same for Services whose annotations ask for an internal balancer',
  },
] as const satisfies readonly ProviderFlag[];
