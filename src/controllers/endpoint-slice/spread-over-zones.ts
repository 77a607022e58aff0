// topology-mode Auto: allocates endpoints to zones in proportion to their CPUs. Most endpoints serve their own zone;
// zones with too many lend some to zones with too few. Upstream: topologycache of k8s.io/endpointslice.
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { hintEach, withHints } from './hint-slices.ts';
import type { SlicePlan } from './pack.ts';
import { type HintsByZone, type ZoneQuota, type ZoneShares, zoneQuotas } from './zone-shares.ts';

export type Spread = {
  readonly plan: SlicePlan;
  /** Absent when no hints are set. */
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
  const allocated: Counts = new Map();
  const unchanged = plan.unchanged.filter((slice) => keepsHints(slice, quotas, allocated));
  const changed = {
    create: plan.create,
    update: [...plan.update, ...plan.unchanged.filter((slice) => !unchanged.includes(slice))],
  };
  const toHint = [...changed.create, ...changed.update].flatMap(readyEndpoints);
  if (toHint.some(({ zone }) => !zone)) {
    return withoutHints(plan, 'One or more endpoints do not have a zone specified');
  }
  for (const { zone = '' } of toHint) add(allocated, zone, 1);
  const lend = lender(balance(quotas, allocated), allocated);
  const hinted = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: slice.endpoints?.map((endpoint) => hintedFor(endpoint, lend)) ?? null,
  });
  const create = changed.create.map(hinted);
  const update = changed.update.map(hinted);
  return {
    plan: { unchanged: unchanged, update, create, delete: plan.delete },
    byZone: Object.fromEntries(allocated),
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

/** A slice keeps its hints while they name known zones and no zone exceeds its maximum. */
function keepsHints(slice: EndpointSlice, quotas: Quotas, allocated: Counts): boolean {
  const own: Counts = new Map();
  for (const { hints } of readyEndpoints(slice)) {
    const zones = hints?.forZones ?? [];
    if (zones.length === 0 || zones.some(({ name }) => !quotas.has(name))) return false;
    for (const { name } of zones) add(own, name, 1);
  }
  const isTooMuch = [...own].some(
    ([zone, count]) => (allocated.get(zone) ?? 0) + count > (quotas.get(zone)?.maximum ?? 0),
  );
  if (isTooMuch) return false;
  for (const [zone, count] of own) add(allocated, zone, count);
  return true;
}

type Balance = { readonly lends: Counts; readonly borrows: Counts };

/** How many endpoints each zone lends and borrows. */
function balance(quotas: Quotas, allocated: Counts): Balance {
  const lends: Counts = new Map();
  const borrows: Counts = new Map();
  const surplus: Counts = new Map();
  for (const [zone, { wanted }] of quotas) surplus.set(zone, (allocated.get(zone) ?? 0) - wanted);
  for (;;) {
    const from = extreme(surplus, 1);
    const to = extreme(surplus, -1);
    if (from === undefined || to === undefined || !isWorthMoving(from.by, to.by)) break;
    add(lends, from.zone, 1);
    add(borrows, to.zone, 1);
    add(surplus, from.zone, -1);
    add(surplus, to.zone, 1);
  }
  return { lends, borrows };
}

/** One zone has at least one endpoint too many or too few, and the other at least half of one. */
function isWorthMoving(excess: number, lack: number): boolean {
  return Math.max(excess, lack) >= 1 && Math.min(excess, lack) >= 0.5;
}

/** The zone with the largest surplus (sign 1) or deficit (sign -1). */
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

/** Maps the zone of an endpoint to the zone it serves; updates `allocated`. */
function lender({ lends, borrows }: Balance, allocated: Counts): (zone: string) => string {
  return (zone) => {
    if ((lends.get(zone) ?? 0) === 0) return zone;
    const borrower = [...borrows].find(([, count]) => count > 0)?.[0];
    if (borrower === undefined) return zone;
    add(lends, zone, -1);
    add(borrows, borrower, -1);
    add(allocated, zone, -1);
    add(allocated, borrower, 1);
    return borrower;
  };
}

function hintedFor(endpoint: Endpoint, lend: (zone: string) => string): Endpoint {
  if (endpoint.conditions.ready !== true) return withHints(endpoint, undefined);
  return withHints(endpoint, { forZones: [{ name: lend(endpoint.zone ?? '') }] });
}
