// Balancers without a cloud: an address from a pool, which nodes answer for (../../announce) and their proxies serve. Nothing
// is kept but the Services themselves: what a status says is taken, and who starts again reads it there.
import type { LoadBalancerIngress, Service } from '../../../kinds/service/types.ts';
import {
  type MakeProvider,
  type Provider,
  type ProviderGiven,
  ProviderSettingsError,
  UnmetRequestError,
} from '../../provider.ts';
import { createAddressBook } from './address-book.ts';
import { createFreeSearch, overlapIn, type Pool, type Pools, parsePool } from './address-pool.ts';
import { decideAddresses } from './desired.ts';
import { localFlags } from './flags.ts';
import { ignoredAnnotations } from './ignored-annotations.ts';
import { measurePools } from './metrics.ts';
import { publishedAddresses, readWish } from './read-request.ts';

export const makeLocalProvider: MakeProvider = async (given) => {
  const pools = readPools(given.settings);
  const told = new Set<() => void>();
  const search = createFreeSearch(pools);
  const book = createAddressBook(() => {
    search.startOver();
    for (const tell of told) tell();
  });
  given.followServices({
    set: (service) => book.publish(readWish(service), publishedAddresses(service)),
    remove: ({ metadata }) => book.remove(metadata.uid ?? ''),
  });
  measurePools(given.metrics, pools, book.taken);
  // Deciding and noting it down is one step without a wait: no two Services can be given one address.
  const decide = (service: Service): readonly string[] => {
    const wish = readWish(service);
    const decision = decideAddresses({
      wish,
      pools,
      findFree: search.find,
      held: book.heldBy(wish.uid),
      othersAt: (address) => book.othersAt(address, wish.uid),
      addressesOf: book.addressesOf,
    });
    if (decision.problem !== undefined)
      throw new UnmetRequestError(decision.problem.message, decision.problem.reason);
    book.give(wish, decision.addresses);
    return decision.addresses;
  };
  return {
    name: 'local',
    ensure: async ({ service }) => decide(service).map(ingressOf),
    // Nodes decide among themselves who answers for an address.
    updateHosts: () => Promise.resolve(),
    remove: async ({ uid }) => book.takeBack(uid),
    exists: async ({ uid }) => book.heldBy(uid).length > 0,
    onRelief: (tell) => told.add(tell),
    ignored: ignoredAnnotations,
  } satisfies Provider;
};

/** Packets arrive with this destination, and the proxies are to catch them (LBC-20). */
const ingressOf = (ip: string): LoadBalancerIngress => ({ ip, ipMode: 'VIP' });

function readPools(settings: ProviderGiven['settings']): Pools {
  const [external, internal] = localFlags.map(({ key, flag }): Pool => {
    const pool = parsePool(settings[key] ?? '');
    if (typeof pool !== 'string') return pool;
    throw new ProviderSettingsError(`${flag.split(' ')[0]} makes no sense: ${pool}`);
  });
  const pools = { external: external ?? [], internal: internal ?? [] };
  const overlap = overlapIn([...pools.external, ...pools.internal]);
  if (overlap !== undefined)
    throw new ProviderSettingsError(`The two pools must have no address in common: ${overlap}`);
  if (pools.external.length + pools.internal.length === 0)
    throw new ProviderSettingsError(
      'The local provider needs addresses: --load-balancer-pool, like 172.30.200.0/24',
    );
  return pools;
}
