// What can be read of the pools.
import { type Family, parseAddress } from '../../../ip/address.ts';
import type { MetricsRegistry, Sample } from '../../../observe/metrics.ts';
import { type PoolName, type Pools, poolHas, poolSize } from './parse-pool.ts';

const names: readonly PoolName[] = ['external', 'internal'];
const families: readonly Family[] = ['IPv4', 'IPv6'];

export function measurePools(
  registry: MetricsRegistry,
  pools: Pools,
  taken: () => Iterable<string>,
): void {
  const gauge = (name: string, help: string, count: (pool: PoolName, family: Family) => number) =>
    registry.gaugeFrom({ name: `fairlead_load_balancer_pool_${name}`, help }, () =>
      names.flatMap((pool) =>
        families.map(
          (family): Sample => ({ labels: { pool, family }, value: count(pool, family) }),
        ),
      ),
    );
  gauge('addresses', 'Addresses there are in a pool.', (pool, family) =>
    Number(poolSize(pools[pool], family)),
  );
  gauge('addresses_taken', 'Addresses of a pool that Services have.', (pool, family) => {
    let count = 0;
    for (const text of taken()) {
      const address = parseAddress(text);
      if (address?.family === family && poolHas(pools[pool], address)) count += 1;
    }
    return count;
  });
}
