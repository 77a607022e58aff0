// Which addresses load balancers of `up` get: what flags say, and parts of the isolated network for what they leave open.

import type { ProviderSettings } from '../cloud/provider.ts';
import { overlapIn, parsePool } from '../cloud/providers/local/address-pool.ts';
import type { LanPlan } from './plan-lan.ts';
import type { UpFlags } from './up-flags.ts';

/** Ranges with commas between. */
export type BalancerPools = { readonly external?: string; readonly internal?: string };

type PoolFlags = Pick<UpFlags, 'loadBalancerPool' | 'loadBalancerInternalPool'>;
type DefaultRanges = Pick<LanPlan, 'balancerRanges' | 'internalBalancerRanges'>;

/** Undefined where there are no addresses at all. A default that meets a range of the other flag is left out. */
export function balancerPools(flags: PoolFlags, ranges?: DefaultRanges): BalancerPools | undefined {
  const { loadBalancerPool: external, loadBalancerInternalPool: internal } = flags;
  const pools = {
    ...chosen('external', external, ranges?.balancerRanges, internal),
    ...chosen('internal', internal, ranges?.internalBalancerRanges, external),
  };
  return Object.keys(pools).length === 0 ? undefined : pools;
}

function chosen(
  name: keyof BalancerPools,
  given: string | undefined,
  defaults: readonly string[] = [],
  other = '',
): BalancerPools {
  if (given !== undefined) return { [name]: given };
  const free = defaults.filter((range) => !meet(range, other));
  return free.length === 0 ? {} : { [name]: free.join(',') };
}

/** A text that is no range is refused later, by its flag's name. */
function meet(range: string, other: string): boolean {
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
