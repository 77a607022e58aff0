// The writes that bring the slices of a Service to the desired endpoints.
import type { SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import { portSetKey } from '../../kinds/endpoint-slice/port-set.ts';
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { withTriggerTime } from '../../kinds/endpoints/trigger-time.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { IPFamily, Service } from '../../kinds/service/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { desiredEndpoints, newSlice, serviceFamilies, sliceLabels } from './desired.ts';
import { packGroup, type SlicePlan } from './pack.ts';
import { assignHints, type HintEvent, type SpreadHints } from './topology-hints.ts';
import type { ZoneShares } from './zone-shares.ts';

export type ServiceSlices = SliceChanges & {
  readonly events: readonly HintEvent[];
  readonly spread: SpreadHints;
  /** Pods left out because their node is not in the cache yet. */
  readonly podsWithoutNode: readonly Pod[];
};

export type SlicesInput = {
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly node: (name: string) => Node | undefined;
  readonly zones: ZoneShares | undefined;
  /** The slices of the Service that this controller manages. */
  readonly existing: readonly EndpointSlice[];
  readonly spreadBefore: SpreadHints;
  readonly maxPerSlice: number;
  readonly triggerTime?: string | undefined;
};

export function diffSlices(input: SlicesInput): ServiceSlices {
  const { service } = input;
  const families = serviceFamilies(service);
  const inUse = input.existing.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isServed = ({ addressType }: EndpointSlice): boolean =>
    families.some((family) => family === addressType);
  let changes: SliceChanges = {
    create: [],
    update: [],
    delete: inUse.filter((slice) => !isServed(slice)),
  };
  let spread: SpreadHints = new Map([...input.spreadBefore].filter(([f]) => families.includes(f)));
  const events: HintEvent[] = [];
  let podsWithoutNode: readonly Pod[] = [];
  for (const family of families) {
    const existing = inUse.filter(({ addressType }) => addressType === family);
    const planned = planFamily({ ...input, existing }, family);
    const hinted = assignHints({
      service,
      family,
      plan: planned.plan,
      zones: input.zones,
      spreadBefore: spread,
    });
    spread = hinted.spread;
    events.push(...hinted.events);
    podsWithoutNode = planned.podsWithoutNode;
    changes = concatenated(changes, finish(hinted.plan, input));
  }
  return { ...changes, events, spread, podsWithoutNode };
}

function concatenated(a: SliceChanges, b: SliceChanges): SliceChanges {
  return {
    create: [...a.create, ...b.create],
    update: [...a.update, ...b.update],
    delete: [...a.delete, ...b.delete],
  };
}

type FamilyPlan = { readonly plan: SlicePlan; readonly podsWithoutNode: readonly Pod[] };

function planFamily(input: SlicesInput, family: IPFamily): FamilyPlan {
  const { service, pods, node, existing, maxPerSlice } = input;
  const { groups, podsWithoutNode } = desiredEndpoints({ service, pods, node, family });
  const labels = sliceLabels(service);
  const own = existing.filter((slice) => isOwnedBy(slice, service));
  const byPorts = groupSlices(own);
  const plans = [...groups].map(([key, { ports, endpoints }]) =>
    packGroup({
      existing: byPorts.get(key) ?? [],
      endpoints,
      labels,
      maxPerSlice,
      newSlice: (inside: readonly Endpoint[]) =>
        newSlice({ service, family, ports, endpoints: inside }),
    }),
  );
  const plan: SlicePlan = {
    unchanged: plans.flatMap(({ unchanged }) => unchanged),
    update: plans.flatMap(({ update }) => update),
    create: plans.flatMap(({ create }) => create),
    delete: [
      ...existing.filter((slice) => !own.includes(slice)),
      ...own.filter((slice) => !groups.has(portSetKey(slice.ports))),
      ...plans.flatMap((group) => group.delete),
    ],
  };
  return { plan: withPlaceholder(plan, service, family), podsWithoutNode };
}

/** Slices of an earlier Service with the same name belong to the garbage collector. */
function isOwnedBy({ metadata }: EndpointSlice, service: Service): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ apiVersion, kind, uid }) =>
        apiVersion === 'v1' && kind === 'Service' && uid === service.metadata.uid,
    ) ?? false
  );
}

function groupSlices(slices: readonly EndpointSlice[]): ReadonlyMap<string, EndpointSlice[]> {
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    const key = portSetKey(slice.ports);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [slice]);
    else group.push(slice);
  }
  return groups;
}

/** A Service always has at least one slice of each family: readers can then tell "no endpoints" from "not synced". */
function withPlaceholder(plan: SlicePlan, service: Service, family: IPFamily): SlicePlan {
  if (plan.unchanged.length + plan.update.length + plan.create.length > 0) return plan;
  const present = plan.delete.find((slice) => isPlaceholder(slice, service));
  if (present !== undefined) {
    const others = plan.delete.filter((slice) => slice !== present);
    return { ...plan, unchanged: [present], delete: others };
  }
  return { ...plan, create: [newSlice({ service, family, ports: [], endpoints: [] })] };
}

function isPlaceholder(slice: EndpointSlice, service: Service): boolean {
  return (
    (slice.endpoints ?? []).length === 0 &&
    (slice.ports ?? []).length === 0 &&
    deepEqual(slice.metadata.labels, sliceLabels(service)) &&
    isOwnedBy(slice, service)
  );
}

function finish(plan: SlicePlan, { service, triggerTime }: SlicesInput): SliceChanges {
  const reused = reuseDeleted(plan, service);
  const timed = (slice: EndpointSlice): EndpointSlice => {
    const { annotations: before, ...metadata } = slice.metadata;
    const annotations = withTriggerTime(before, triggerTime);
    return {
      ...slice,
      metadata: annotations === undefined ? metadata : { ...metadata, annotations },
    };
  };
  // An object created for a Service that is being deleted would outlive it.
  const isBeingDeleted = service.metadata.deletionTimestamp !== undefined;
  return {
    create: isBeingDeleted ? [] : reused.create.map(timed),
    update: reused.update.map(timed),
    delete: reused.delete,
  };
}

/** A slice to be deleted is rewritten as one to be created: one write instead of two, and the name stays. */
function reuseDeleted(plan: SlicePlan, service: Service): SliceChanges {
  const create = [...plan.create];
  const update = [...plan.update];
  const deleted: EndpointSlice[] = [];
  for (const slice of plan.delete) {
    const successor = isOwnedBy(slice, service) ? create.pop() : undefined;
    if (successor === undefined) deleted.push(slice);
    else update.push({ ...successor, metadata: withIdentityOf(slice, successor) });
  }
  return { create, update, delete: deleted };
}

function withIdentityOf({ metadata: before }: EndpointSlice, { metadata }: EndpointSlice) {
  const { name = '', uid = '', resourceVersion } = before;
  return { ...metadata, name, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}
