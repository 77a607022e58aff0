// Load balancers without a cloud: allocates addresses from pools; announcers answer for them (../../announce) and proxies serve them. The
// only state is the status of the Services, from which a restart reads which addresses are in use.
import type { LoadBalancerIngress, Service } from '../../../kinds/service/types.ts';
import {
  type MakeProvider,
  type Provider,
  type ProviderGiven,
  ProviderSettingsError,
  UnmetRequestError,
} from '../../provider.ts';
import { createAddressBook } from './address-book.ts';
import { decideAddresses } from './desired.ts';
import { localFlags } from './flags.ts';
import { ignoredAnnotations } from './ignored-annotations.ts';
import { measurePools } from './metrics.ts';
import { createFreeSearch, overlapIn, type Pool, type Pools, parsePool } from './parse-pool.ts';
import { publishedAddresses, readAddressRequest } from './read-request.ts';

export const makeLocalProvider: MakeProvider = async (given) => {
  const pools = readPools(given.settings);
  const listeners = new Set<() => void>();
  const search = createFreeSearch(pools);
  const book = createAddressBook(() => {
    search.startOver();
    for (const listener of listeners) listener();
  });
  given.followServices({
    set: (service) => book.publish(readAddressRequest(service), publishedAddresses(service)),
    remove: ({ metadata }) => book.remove(metadata.uid ?? ''),
  });
  measurePools(given.metrics, pools, book.taken);
  // Decide and record without an await in between: two Services cannot get the same address.
  const decide = (service: Service): readonly string[] => {
    const request = readAddressRequest(service);
    const decision = decideAddresses({
      request,
      pools,
      findFree: search.find,
      held: book.heldBy(request.uid),
      othersAt: (address) => book.othersAt(address, request.uid),
      addressesOf: book.addressesOf,
    });
    if (decision.problem !== undefined)
      throw new UnmetRequestError(decision.problem.message, decision.problem.reason);
    book.give(request, decision.addresses);
    return decision.addresses;
  };
  return {
    name: 'local',
    ensure: async ({ service }) => decide(service).map(ingressOf),
    // Announcers decide which node answers for an address.
    updateHosts: () => Promise.resolve(),
    remove: async ({ uid }) => book.takeBack(uid),
    exists: async ({ uid }) => book.heldBy(uid).length > 0,
    onRelief: (listener) => listeners.add(listener),
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
