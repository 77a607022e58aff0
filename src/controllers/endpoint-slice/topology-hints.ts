// Topology hints tell proxies which endpoints are near: by trafficDistribution, or proportionally over zones with
// topology-mode Auto.
import type { Endpoint, EndpointHints } from '../../kinds/endpoint-slice/types.ts';
import type { IPFamily, Service } from '../../kinds/service/types.ts';
import {
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../meta/well-known-annotations.ts';
import { hintEach } from './hint-slices.ts';
import type { SlicePlan } from './pack.ts';
import { spreadOverZones } from './spread-over-zones.ts';
import type { HintsByZone, ZoneShares } from './zone-shares.ts';

export type HintEvent = {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled';
  readonly message: string;
};

/** Allocated hints by family. */
export type SpreadHints = ReadonlyMap<IPFamily, HintsByZone>;

export type HintInput = {
  readonly service: Service;
  readonly family: IPFamily;
  readonly plan: SlicePlan;
  /** Absent when nodes lack zones or CPUs. */
  readonly zones: ZoneShares | undefined;
  readonly spreadBefore: SpreadHints;
};

export type HintOutcome = {
  readonly plan: SlicePlan;
  readonly spread: SpreadHints;
  readonly events: readonly HintEvent[];
};

export function assignHints({
  service,
  family,
  plan,
  zones,
  spreadBefore,
}: HintInput): HintOutcome {
  if (wantsSpread(service)) {
    const { plan: hinted, byZone, problem } = spreadOverZones(plan, zones);
    const spread = withFamily(spreadBefore, family, byZone);
    const events = spreadEvents({ family, problem, wasSpread: spreadBefore.size > 0 });
    return { plan: hinted, spread, events };
  }
  const events =
    spreadBefore.size > 0 ? [disabled('Topology Aware Hints has been disabled', family)] : [];
  const hinted = hintEach(plan, (endpoint) =>
    nearHints(service.spec.trafficDistribution, endpoint),
  );
  // The other family loses its hints in the same sync; one event is enough.
  return { plan: hinted, spread: new Map(), events };
}

export function wantsSpread({ metadata }: Service): boolean {
  const mode =
    metadata.annotations?.[topologyHintsAnnotation] ??
    metadata.annotations?.[topologyModeAnnotation];
  return mode === 'Auto' || mode === 'auto';
}

function withFamily(
  before: SpreadHints,
  family: IPFamily,
  byZone: HintsByZone | undefined,
): SpreadHints {
  const after = new Map(before);
  if (byZone === undefined) after.delete(family);
  else after.set(family, byZone);
  return after;
}

type SpreadResult = {
  readonly family: IPFamily;
  readonly problem: string | undefined;
  readonly wasSpread: boolean;
};

function spreadEvents({ family, problem, wasSpread }: SpreadResult): readonly HintEvent[] {
  if (problem !== undefined) return [disabled(problem, family)];
  if (wasSpread) return [];
  const message = `Topology Aware Hints has been enabled, addressType: ${family}`;
  return [{ type: 'Normal', reason: 'TopologyAwareHintsEnabled', message }];
}

function disabled(why: string, family: IPFamily): HintEvent {
  const message = `${why}, addressType: ${family}`;
  return { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message };
}

/** Only ready endpoints get hints. */
export function nearHints(
  trafficDistribution: string | undefined,
  { conditions, zone, nodeName }: Endpoint,
): EndpointHints | undefined {
  if (conditions.ready !== true) return undefined;
  const forZones = zone ? { forZones: [{ name: zone }] } : {};
  const forNodes = nodeName ? { forNodes: [{ name: nodeName }] } : {};
  switch (trafficDistribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return zone ? forZones : undefined;
    case 'PreferSameNode':
      return zone || nodeName ? { ...forZones, ...forNodes } : undefined;
    default:
      return undefined;
  }
}
