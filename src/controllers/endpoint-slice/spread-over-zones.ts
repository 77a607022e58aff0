// topology-mode Auto: gives every zone as many endpoints as its CPUs ask for. Most endpoints serve their own zone;
// some of a zone that has too many are lent to one that has too few. Upstream: topologycache of k8s.io/endpointslice.
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { hintEach, withHints } from './hint-slices.ts';
import type { SlicePlan } from './pack.ts';
import { type HintsByZone, type ZoneQuota, type ZoneShares, zoneQuotas } from './zone-shares.ts';

export type Spread = {
  readonly plan: SlicePlan;
  /** Absent when there are no hints. */
  readonly byZone?: HintsByZone;
  readonly problem?: string;
};

type Quotas = ReadonlyMap<string, ZoneQuota>;
type Counts = Map<string, number>;

export function spreadOverZones(plan: SlicePlan, shares: ZoneShares | undefined): Spread {
  const all = [...plan.create, ...plan.update, ...plan.unchanged];
  const ready = all.flatMap(readyEndpoints);
  const division = zoneQuotas(shares, ready.length);
  if ('problem' in division) return withoutHints(plan, division.problem);
  const { quotas } = division;
  const given: Counts = new Map();
  const kept = plan.unchanged.filter((slice) => keepsHints(slice, quotas, given));
  const open = {
    create: plan.create,
    update: [...plan.update, ...plan.unchanged.filter((slice) => !kept.includes(slice))],
  };
  const toHint = [...open.create, ...open.update].flatMap(readyEndpoints);
  if (toHint.some(({ zone }) => !zone)) {
    return withoutHints(plan, 'One or more endpoints do not have a zone specified');
  }
  for (const { zone = '' } of toHint) add(given, zone, 1);
  const lend = lender(balance(quotas, given), given);
  const hinted = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: slice.endpoints?.map((endpoint) => hintedFor(endpoint, lend)) ?? null,
  });
  const create = open.create.map(hinted);
  const update = open.update.map(hinted);
  return {
    plan: { unchanged: kept, update, create, delete: plan.delete },
    byZone: Object.fromEntries(given),
  };
}

function withoutHints(plan: SlicePlan, problem: string): Spread {
  return { plan: hintEach(plan, () => undefined), problem };
}

function readyEndpoints({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints ?? []).filter(({ conditions }) => conditions.ready === true);
}

function add(counts: Counts, zone: string, by: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + by);
}

/** A slice need not be written while its hints name known zones and leave enough for the other zones. */
function keepsHints(slice: EndpointSlice, quotas: Quotas, given: Counts): boolean {
  const own: Counts = new Map();
  for (const { hints } of readyEndpoints(slice)) {
    const zones = hints?.forZones ?? [];
    if (zones.length === 0 || zones.some(({ name }) => !quotas.has(name))) return false;
    for (const { name } of zones) add(own, name, 1);
  }
  const isTooMuch = [...own].some(
    ([zone, count]) => (given.get(zone) ?? 0) + count > (quotas.get(zone)?.maximum ?? 0),
  );
  if (isTooMuch) return false;
  for (const [zone, count] of own) add(given, zone, count);
  return true;
}

type Balance = { readonly gives: Counts; readonly takes: Counts };

/** How many endpoints each zone lends, and how many it borrows. */
function balance(quotas: Quotas, given: Counts): Balance {
  const gives: Counts = new Map();
  const takes: Counts = new Map();
  const surplus: Counts = new Map();
  for (const [zone, { wanted }] of quotas) surplus.set(zone, (given.get(zone) ?? 0) - wanted);
  for (;;) {
    const from = extreme(surplus, 1);
    const to = extreme(surplus, -1);
    if (from === undefined || to === undefined || !isWorthMoving(from.by, to.by)) break;
    add(gives, from.zone, 1);
    add(takes, to.zone, 1);
    add(surplus, from.zone, -1);
    add(surplus, to.zone, 1);
  }
  return { gives, takes };
}

/** One side has a whole endpoint too many or too few, and the other at least half of one. */
function isWorthMoving(excess: number, lack: number): boolean {
  return Math.max(excess, lack) >= 1 && Math.min(excess, lack) >= 0.5;
}

/** The zone furthest above (sign 1) or below (sign -1) what it is due. */
function extreme(
  surplus: Counts,
  sign: 1 | -1,
): { readonly zone: string; readonly by: number } | undefined {
  let found: { zone: string; by: number } | undefined;
  for (const [zone, value] of surplus) {
    const by = value * sign;
    if (by > 0 && (found === undefined || by > found.by)) found = { zone, by };
  }
  return found;
}

/** For an endpoint of a zone: the zone it serves. `given` is brought up to date. */
function lender({ gives, takes }: Balance, given: Counts): (zone: string) => string {
  return (zone) => {
    if ((gives.get(zone) ?? 0) === 0) return zone;
    const taker = [...takes].find(([, count]) => count > 0)?.[0];
    if (taker === undefined) return zone;
    add(gives, zone, -1);
    add(takes, taker, -1);
    add(given, zone, -1);
    add(given, taker, 1);
    return taker;
  };
}

function hintedFor(endpoint: Endpoint, lend: (zone: string) => string): Endpoint {
  if (endpoint.conditions.ready !== true) return withHints(endpoint, undefined);
  return withHints(endpoint, { forZones: [{ name: lend(endpoint.zone ?? '') }] });
}
