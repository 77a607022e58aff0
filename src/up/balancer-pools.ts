// The address pools for load balancers in `up`: from flags, and by default parts of the isolated network.

import type { ProviderSettings } from '../cloud/provider.ts';
import { overlapIn, parsePool } from '../cloud/providers/local/parse-pool.ts';
import type { LanPlan } from './plan-lan.ts';
import type { UpFlags } from './up-flags.ts';

/** Comma-separated ranges. */
export type BalancerPools = { readonly external?: string; readonly internal?: string };

type PoolFlags = Pick<UpFlags, 'loadBalancerPool' | 'loadBalancerInternalPool'>;
type DefaultRanges = Pick<LanPlan, 'balancerRanges' | 'internalBalancerRanges'>;

/** Undefined when there are no addresses at all. A default range that overlaps the other flag's range is left out. */
export function balancerPools(flags: PoolFlags, ranges?: DefaultRanges): BalancerPools | undefined {
  const { loadBalancerPool: external, loadBalancerInternalPool: internal } = flags;
  const pools = {
    ...poolOf('external', external, ranges?.balancerRanges, internal),
    ...poolOf('internal', internal, ranges?.internalBalancerRanges, external),
  };
  return Object.keys(pools).length === 0 ? undefined : pools;
}

function poolOf(
  name: keyof BalancerPools,
  flagValue: string | undefined,
  defaults: readonly string[] = [],
  other = '',
): BalancerPools {
  if (flagValue !== undefined) return { [name]: flagValue };
  const free = defaults.filter((range) => !overlap(range, other));
  return free.length === 0 ? {} : { [name]: free.join(',') };
}

/** Invalid ranges are reported later, under the name of their flag. */
function overlap(range: string, other: string): boolean {
  const [one, two] = [parsePool(range), parsePool(other)];
  return (
    typeof one !== 'string' && typeof two !== 'string' && overlapIn([...one, ...two]) !== undefined
  );
}

export function poolSettings({ external, internal }: BalancerPools): ProviderSettings {
  return {
    ...(external === undefined ? {} : { loadBalancerPool: external }),
    ...(internal === undefined ? {} : { loadBalancerInternalPool: internal }),
  };
}

export function describePools(pools: BalancerPools | undefined): string {
  if (pools === undefined) return 'none: load balancers wait for addresses (--load-balancer-pool)';
  const { external = 'none', internal = 'none' } = pools;
  return `${external}; internal ones ${internal}`;
}
