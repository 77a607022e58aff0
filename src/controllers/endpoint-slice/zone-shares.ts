// The share of each zone in the cluster's CPUs, and the number of endpoints it should get.
import type { Node } from '../../kinds/node/types.ts';
import { controlPlaneLabel, masterLabel, zoneLabel } from '../../meta/well-known-labels.ts';
import { quantityValue } from '../../schema/quantity.ts';

/** By zone; sums to 1; at least two zones. */
export type ZoneShares = Readonly<Record<string, number>>;

/** Allocated endpoints by zone. */
export type HintsByZone = Readonly<Record<string, number>>;

export type ZoneQuota = {
  readonly minimum: number;
  /** In proportion to the CPUs; may be a fraction. */
  readonly wanted: number;
  readonly maximum: number;
};

/** Upstream's overload threshold: a zone may have this share of endpoints too few. */
const overloadThreshold = 0.2;
const excludedLabels = [controlPlaneLabel, masterLabel];

/** Undefined when a ready node has no zone or no CPUs: shares of some nodes only would be wrong. */
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

/** The order does not depend on the order of nodes. */
function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}

/** In whole numbers: sums of fractions have rounding errors, and quotas are rounded up. */
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

/** The quota of each zone, or why endpoints cannot be divided. */
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
  const minimums = zones.map(([zone, share]) => ({
    zone,
    minimum: minimumFor(share, endpoints),
    share,
  }));
  const minimumTotal = minimums.reduce((sum, { minimum }) => sum + minimum, 0);
  if (minimumTotal > endpoints) {
    return {
      problem: `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`,
    };
  }
  const quotas = minimums.map(({ zone, minimum, share }): [string, ZoneQuota] => {
    const wanted = Math.max(share * endpoints, minimum);
    return [zone, { minimum, wanted, maximum: minimum + endpoints - minimumTotal }];
  });
  return { quotas: new Map(quotas) };
}

function minimumFor(share: number, endpoints: number): number {
  return Math.ceil((share * endpoints) / (1 + overloadThreshold));
}

/** Whether the hints leave a zone with too few endpoints for its CPUs. */
export function isOverloaded(byZone: HintsByZone, shares: ZoneShares | undefined): boolean {
  const endpoints = Object.values(byZone).reduce((sum, count) => sum + count, 0);
  if (endpoints === 0) return false;
  if (shares === undefined) return true;
  return Object.entries(shares).some(
    ([zone, share]) => (byZone[zone] ?? 0) < minimumFor(share, endpoints),
  );
}
