// How much of the cluster's CPU each zone has, and so how many endpoints of a Service it should be given.
import type { Node } from '../../kinds/node/types.ts';
import { controlPlaneLabel, masterLabel, zoneLabel } from '../../meta/well-known-labels.ts';
import { quantityValue } from '../../schema/quantity.ts';

/** Part of all CPUs by zone; at least two zones. */
export type ZoneShares = Readonly<Record<string, number>>;

/** How many endpoints each zone is given. */
export type HintsByZone = Readonly<Record<string, number>>;

export type ZoneQuota = {
  readonly minimum: number;
  /** As many as its CPUs ask for; a fraction. */
  readonly wanted: number;
  readonly maximum: number;
};

/** A zone may be short of endpoints by this much before it counts as overloaded. */
const overload = 0.2;
const excludedLabels = [controlPlaneLabel, masterLabel];

/** Nothing when any ready node lacks a zone or CPUs: shares from part of the nodes would be wrong. */
export function zoneShares(nodes: Iterable<Node>): ZoneShares | undefined {
  const cpus = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    if (!countsForZones(node)) continue;
    const zone = node.metadata.labels?.[zoneLabel];
    const cpu = millicores(node);
    if (!zone || cpu === 0) return undefined;
    cpus.set(zone, (cpus.get(zone) ?? 0) + cpu);
    total += cpu;
  }
  if (cpus.size < 2) return undefined;
  return Object.fromEntries([...cpus].sort(byName).map(([zone, cpu]) => [zone, cpu / total]));
}

/** The same order whichever node came first. */
function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}

/** Whole numbers, because sums of fractions are off by a little, and quotas are rounded up. */
function millicores({ status }: Node): number {
  const cpu = quantityValue(status.allocatable?.cpu ?? '0');
  return cpu === 0 ? 0 : Math.max(1, Math.round(cpu * 1000));
}

function countsForZones(node: Node): boolean {
  const { labels } = node.metadata;
  return isNodeReady(node) && excludedLabels.every((label) => labels?.[label] === undefined);
}

export function isNodeReady({ status }: Node): boolean {
  return (
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  );
}

/** What each zone is due of so many endpoints, or why there can be no fair division. */
export function zoneQuotas(
  shares: ZoneShares | undefined,
  endpoints: number,
): { readonly quotas: ReadonlyMap<string, ZoneQuota> } | { readonly problem: string } {
  if (shares === undefined) {
    return {
      problem:
        'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    };
  }
  const zones = Object.entries(shares);
  const counts = `(${endpoints} endpoints, ${zones.length} zones)`;
  if (zones.length > endpoints) return { problem: `Insufficient number of endpoints ${counts}` };
  const due = zones.map(([zone, share]) => ({ zone, minimum: smallest(share, endpoints), share }));
  const least = due.reduce((sum, { minimum }) => sum + minimum, 0);
  if (least > endpoints) {
    return {
      problem: `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`,
    };
  }
  const quotas = due.map(({ zone, minimum, share }): [string, ZoneQuota] => {
    const wanted = Math.max(share * endpoints, minimum);
    return [zone, { minimum, wanted, maximum: minimum + endpoints - least }];
  });
  return { quotas: new Map(quotas) };
}

function smallest(share: number, endpoints: number): number {
  return Math.ceil((share * endpoints) / (1 + overload));
}

/** Whether hints given earlier leave a zone with too few endpoints for the CPUs it has now. */
export function isOverloaded(byZone: HintsByZone, shares: ZoneShares | undefined): boolean {
  const endpoints = Object.values(byZone).reduce((sum, count) => sum + count, 0);
  if (endpoints === 0) return false;
  if (shares === undefined) return true;
  return Object.entries(shares).some(
    ([zone, share]) => (byZone[zone] ?? 0) < smallest(share, endpoints),
  );
}
