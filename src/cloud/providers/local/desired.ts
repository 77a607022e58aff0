// Decides which addresses a Service gets, or why it gets none.
import { type Family, formatAddress, parseAddressSloppy } from '../../../ip/address.ts';
import {
  type FreeSearch,
  formatPool,
  type Pool,
  type Pools,
  poolFamilies,
  poolHas,
  poolSize,
} from './parse-pool.ts';
import type { AddressRequest, RequestedAddress, Sharing } from './read-request.ts';

/** A Service with an address. */
export type Holder = {
  /** `namespace/name`, for explanations. */
  readonly key: string;
  readonly sharing: Sharing;
};

export type Situation = {
  readonly request: AddressRequest;
  readonly pools: Pools;
  readonly findFree: FreeSearch['find'];
  /** The current addresses of the Service. */
  readonly held: readonly string[];
  /** The other Services with an address. */
  readonly othersAt: (address: string) => readonly Holder[];
  /** The addresses with a sharing key. */
  readonly addressesOf: (sharingKey: string) => Iterable<string>;
};

export type Problem = {
  /** The reason of the condition. */
  readonly reason: string;
  readonly message: string;
};

export type Decision =
  | { readonly addresses: readonly string[]; readonly problem?: undefined }
  | { readonly problem: Problem };

export function decideAddresses(situation: Situation): Decision {
  const { request } = situation;
  const requested = readRequested(situation);
  if ('problem' in requested) return requested;
  const choices = request.families.map((family) =>
    chooseAddress(situation, family, requested[family]),
  );
  const addresses = choices.flatMap((choice) => ('address' in choice ? [choice.address] : []));
  const problem = choices.flatMap((choice) => ('problem' in choice ? [choice.problem] : []))[0];
  if (problem === undefined || (request.takesOneFamily && addresses.length > 0))
    return { addresses };
  return { problem };
}

type Requested = Partial<Readonly<Record<Family, string>>>;

/** The addresses requested by name, at most one per family; all of them must be available. */
function readRequested(situation: Situation): Requested | { readonly problem: Problem } {
  const byFamily: Partial<Record<Family, string>> = {};
  for (const requested of situation.request.requested) {
    const problem = problemOfRequested(situation, requested, byFamily);
    if (problem !== undefined) return { problem };
    if (requested.address !== undefined)
      byFamily[requested.address.family] = formatAddress(requested.address);
  }
  return byFamily;
}

function problemOfRequested(
  { request, pools, othersAt }: Situation,
  { text, source, address }: RequestedAddress,
  before: Requested,
): Problem | undefined {
  const cannot = `Cannot use "${text}" from ${source}`;
  if (address === undefined)
    return { reason: 'InvalidAddress', message: `${cannot}: it is not an IP address` };
  const { family } = address;
  if (!request.families.includes(family))
    return {
      reason: 'WrongFamily',
      message: `${cannot}: the Service is not of family ${family}, spec.ipFamilies says ${request.families.join(', ')}`,
    };
  if (before[family] !== undefined)
    return {
      reason: 'InvalidAddress',
      message: `${cannot}: a Service has one address of a family, and ${before[family]} is requested as well`,
    };
  if (!poolHas(pools[request.pool], address))
    return {
      reason: 'AddressOutsidePool',
      message: `${cannot}: it is not in the ${request.pool} pool of addresses (${formatPool(pools[request.pool])})`,
    };
  for (const other of othersAt(formatAddress(address))) {
    const clash = clashOf(request.sharing, other.sharing);
    if (clash !== undefined)
      return {
        reason: 'AddressTaken',
        message: `${cannot}: Service "${other.key}" has it, and they cannot share it: ${clash}`,
      };
  }
  return undefined;
}

type Choice = { readonly address: string } | { readonly problem: Problem };

/** The requested address, or the current one, or one that may be shared, or the next free one. */
function chooseAddress(
  situation: Situation,
  family: Family,
  requested: string | undefined,
): Choice {
  if (requested !== undefined) return { address: requested };
  const { request, pools, held, othersAt, addressesOf } = situation;
  const pool = pools[request.pool];
  if (!poolFamilies(pool).has(family)) return { problem: noPool(request, family) };
  const mayUse = (address: string): boolean =>
    isOfPool(pool, family, address) &&
    othersAt(address).every(({ sharing }) => clashOf(request.sharing, sharing) === undefined);
  const { sharingKey } = request.sharing;
  const shared = sharingKey === '' ? [] : addressesOf(sharingKey);
  for (const candidates of [held, shared]) {
    for (const address of candidates) if (mayUse(address)) return { address };
  }
  const free = situation.findFree(request.pool, family, (one) => othersAt(one).length > 0);
  if (free !== undefined) return { address: free };
  const message = `Cannot give an address: all ${poolSize(pool, family)} ${family} addresses of the ${request.pool} pool (${formatPool(pool)}) are taken`;
  return { problem: { reason: 'PoolExhausted', message } };
}

function isOfPool(pool: Pool, family: Family, text: string): boolean {
  const parsed = parseAddressSloppy(text);
  return parsed?.family === family && poolHas(pool, parsed);
}

function noPool({ pool }: AddressRequest, family: Family): Problem {
  const flag = pool === 'internal' ? '--load-balancer-internal-pool' : '--load-balancer-pool';
  return {
    reason: 'NoPool',
    message: `Cannot give an address: the ${pool} pool has no ${family} addresses (${flag})`,
  };
}

/** Why two Services cannot have one address; undefined where they can. */
export function clashOf(a: Sharing, b: Sharing): string | undefined {
  if (a.sharingKey === '' || b.sharingKey === '')
    return 'both need a sharing key (annotation fairlead.dev/allow-shared-ip)';
  if (a.sharingKey !== b.sharingKey) return 'their sharing keys are different';
  const port = a.ports.find((one) => b.ports.includes(one));
  if (port !== undefined) return `both want port ${port}`;
  if (a.backends !== b.backends)
    return 'externalTrafficPolicy must be Cluster for both, or Local for both with the same selector';
  return undefined;
}
