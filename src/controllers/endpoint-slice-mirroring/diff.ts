// The writes that bring the mirrored slices to what the Endpoints say.
import type { SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import { endpointIdentity, isUnchanged } from '../../kinds/endpoint-slice/same-endpoint.ts';
import { type EndpointSlice, mirrorManager } from '../../kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { lastAppliedAnnotation, triggerTimeAnnotation } from '../../meta/well-known-annotations.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { type DesiredMirror, groupKey, type MirrorGroup } from './desired.ts';

export function diffMirror(
  endpoints: Endpoints,
  desired: DesiredMirror,
  existing: readonly EndpointSlice[],
): SliceChanges {
  const create: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  const { byGroup, reusable } = matchSlices(existing, desired);
  for (const [key, group] of desired.groups) {
    const wanted = newSlice(endpoints, group);
    const current = byGroup.get(key);
    const reused = current === undefined ? takeReusable(reusable, group.family) : undefined;
    if (reused !== undefined) update.push(replacementFor(reused, wanted));
    else if (current === undefined) create.push(wanted);
    else if (!isUpToDate(current, wanted))
      update.push(replacementFor(current, withoutGenerateName(wanted)));
  }
  // An object created for Endpoints that are being deleted would outlive them.
  const isBeingDeleted = endpoints.metadata.deletionTimestamp !== undefined;
  return { create: isBeingDeleted ? [] : create, update, delete: [...reusable.values()] };
}

type MatchedSlices = {
  readonly byGroup: ReadonlyMap<string, EndpointSlice>;
  /** Slices that no group uses as they are, by UID. */
  readonly reusable: Map<string, EndpointSlice>;
};

function matchSlices(existing: readonly EndpointSlice[], { groups }: DesiredMirror): MatchedSlices {
  const byGroup = new Map<string, EndpointSlice>();
  const reusable = new Map<string, EndpointSlice>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, slice.ports);
    if (groups.has(key) && !byGroup.has(key)) byGroup.set(key, slice);
    else reusable.set(slice.metadata.uid ?? '', slice);
  }
  return { byGroup, reusable };
}

/** A slice that would be deleted is rewritten, so that its name stays. The address type is immutable. */
function takeReusable(
  spare: Map<string, EndpointSlice>,
  family: string,
): EndpointSlice | undefined {
  for (const [uid, slice] of spare) {
    if (slice.addressType !== family) continue;
    spare.delete(uid);
    return slice;
  }
  return undefined;
}

function newSlice(owner: Endpoints, { family, ports, endpoints }: MirrorGroup): EndpointSlice {
  const { name = '', namespace = '', labels } = owner.metadata;
  const prefix = `${name}-`;
  const annotations = mirroredAnnotations(owner.metadata);
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      generateName: nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : name,
      namespace,
      labels: { ...labels, [serviceNameLabel]: name, [sliceManagedByLabel]: mirrorManager },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    addressType: family,
    endpoints: [...endpoints.values()],
    ports,
  };
}

function mirroredAnnotations({ annotations }: ObjectMeta): Readonly<Record<string, string>> {
  const {
    [triggerTimeAnnotation]: _time,
    [lastAppliedAnnotation]: _applied,
    ...others
  } = annotations ?? {};
  return others;
}

function isUpToDate(current: EndpointSlice, wanted: EndpointSlice): boolean {
  return (
    deepEqual(current.metadata.labels, wanted.metadata.labels) &&
    deepEqual(current.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}) &&
    deepEqual(current.metadata.ownerReferences, wanted.metadata.ownerReferences) &&
    deepEqual(current.ports, wanted.ports) &&
    hasSameEndpoints(current, wanted)
  );
}

/** In any order. */
function hasSameEndpoints(current: EndpointSlice, wanted: EndpointSlice): boolean {
  const present = new Map((current.endpoints ?? []).map((one) => [endpointIdentity(one), one]));
  const expected = wanted.endpoints ?? [];
  if ((current.endpoints ?? []).length !== expected.length) return false;
  return expected.every((after) => {
    const before = present.get(endpointIdentity(after));
    return before !== undefined && isUnchanged(before, after) && before.hints === undefined;
  });
}

/** Upstream sets generateName only on slices that it creates or reuses; an update removes it. */
function withoutGenerateName(slice: EndpointSlice): EndpointSlice {
  const { generateName: _, ...metadata } = slice.metadata;
  return { ...slice, metadata };
}

function replacementFor({ metadata }: EndpointSlice, wanted: EndpointSlice): EndpointSlice {
  const { name = '', uid = '', resourceVersion } = metadata;
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return { ...wanted, metadata: { ...wanted.metadata, name, uid, ...version } };
}
