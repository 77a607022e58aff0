// Which addresses a Service gets, or why none.
import { type Family, formatAddress, parseAddressSloppy } from '../../../ip/address.ts';
import {
  type FreeSearch,
  formatPool,
  type Pool,
  type Pools,
  poolFamilies,
  poolHas,
  poolSize,
} from './address-pool.ts';
import type { AddressRequest, AskedAddress, Sharing } from './read-request.ts';

/** Somebody who has an address. */
export type Holder = {
  /** `namespace/name`, for explanations. */
  readonly key: string;
  readonly sharing: Sharing;
};

export type Situation = {
  readonly wish: AddressRequest;
  readonly pools: Pools;
  readonly findFree: FreeSearch['find'];
  /** What the Service has now. */
  readonly held: readonly string[];
  /** The others that have an address. */
  readonly othersAt: (address: string) => readonly Holder[];
  /** The addresses at which a sharing key is in use. */
  readonly addressesOf: (sharingKey: string) => Iterable<string>;
};

export type Problem = {
  /** One word, for programs. */
  readonly reason: string;
  readonly message: string;
};

export type Decision =
  | { readonly addresses: readonly string[]; readonly problem?: undefined }
  | { readonly problem: Problem };

export function decideAddresses(situation: Situation): Decision {
  const { wish } = situation;
  const asked = readAsked(situation);
  if ('problem' in asked) return asked;
  const choices = wish.families.map((family) => chooseAddress(situation, family, asked[family]));
  const addresses = choices.flatMap((choice) => ('address' in choice ? [choice.address] : []));
  const problem = choices.flatMap((choice) => ('problem' in choice ? [choice.problem] : []))[0];
  if (problem === undefined || (wish.takesOneFamily && addresses.length > 0)) return { addresses };
  return { problem };
}

type Asked = Partial<Readonly<Record<Family, string>>>;

/** The addresses asked for by name, at most one of each family; all of them must be to be had. */
function readAsked(situation: Situation): Asked | { readonly problem: Problem } {
  const byFamily: Partial<Record<Family, string>> = {};
  for (const asked of situation.wish.asked) {
    const problem = problemOfAsked(situation, asked, byFamily);
    if (problem !== undefined) return { problem };
    if (asked.address !== undefined) byFamily[asked.address.family] = formatAddress(asked.address);
  }
  return byFamily;
}

function problemOfAsked(
  { wish, pools, othersAt }: Situation,
  { text, source, address }: AskedAddress,
  before: Asked,
): Problem | undefined {
  const cannot = `Cannot use "${text}" of ${source}`;
  if (address === undefined)
    return { reason: 'InvalidAddress', message: `${cannot}: it is not an IP address` };
  const { family } = address;
  if (!wish.families.includes(family))
    return {
      reason: 'WrongFamily',
      message: `${cannot}: the Service is not of family ${family}, spec.ipFamilies says ${wish.families.join(', ')}`,
    };
  if (before[family] !== undefined)
    return {
      reason: 'InvalidAddress',
      message: `${cannot}: a Service has one address of a family, and ${before[family]} is asked for as well`,
    };
  if (!poolHas(pools[wish.pool], address))
    return {
      reason: 'AddressOutsidePool',
      message: `${cannot}: it is not in the ${wish.pool} pool of addresses (${formatPool(pools[wish.pool])})`,
    };
  for (const other of othersAt(formatAddress(address))) {
    const clash = clashOf(wish.sharing, other.sharing);
    if (clash !== undefined)
      return {
        reason: 'AddressTaken',
        message: `${cannot}: Service "${other.key}" has it, and they cannot share it: ${clash}`,
      };
  }
  return undefined;
}

type Choice = { readonly address: string } | { readonly problem: Problem };

/** What is asked for, or what it has, or one that it may share, or the next that is free. */
function chooseAddress(situation: Situation, family: Family, asked: string | undefined): Choice {
  if (asked !== undefined) return { address: asked };
  const { wish, pools, held, othersAt, addressesOf } = situation;
  const pool = pools[wish.pool];
  if (!poolFamilies(pool).has(family)) return { problem: noPool(wish, family) };
  const mayUse = (address: string): boolean =>
    isOfPool(pool, family, address) &&
    othersAt(address).every(({ sharing }) => clashOf(wish.sharing, sharing) === undefined);
  const { sharingKey } = wish.sharing;
  const shared = sharingKey === '' ? [] : addressesOf(sharingKey);
  for (const candidates of [held, shared]) {
    for (const address of candidates) if (mayUse(address)) return { address };
  }
  const free = situation.findFree(wish.pool, family, (one) => othersAt(one).length > 0);
  if (free !== undefined) return { address: free };
  const message = `Cannot give an address: all ${poolSize(pool, family)} ${family} addresses of the ${wish.pool} pool (${formatPool(pool)}) are taken`;
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
