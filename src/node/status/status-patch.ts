// The strategic merge patch from one pod status to another; undefined if they are equal.

import { podConditionPatch } from '../../kinds/pod/conditions.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import { deepEqual } from '../../schema/equality.ts';
import { resizeCondition } from './pod-conditions.ts';

/** Conditions are merged by type, because other writers own some. These lists, merged by key too, are replaced as a whole. */
const replacedLists = ['podIPs', 'hostIPs'];

export function statusPatch(before: PodStatus, after: PodStatus): object | undefined {
  const patch: Record<string, unknown> = {};
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof PodStatus>;
  for (const field of fields) {
    if (field === 'conditions' || deepEqual(before[field], after[field])) continue;
    const value = fieldPatch(field, before[field], after[field]);
    if (value !== undefined) patch[field] = value;
  }
  const changed = (after.conditions ?? []).filter(
    (desired) =>
      !deepEqual(
        before.conditions?.find(({ type }) => type === desired.type),
        desired,
      ),
  );
  const conditions = changed.map((desired) => podConditionPatch(before.conditions, desired));
  const isResizeOver = hasResize(before) && !hasResize(after);
  const deleted = isResizeOver ? [{ type: resizeCondition, $patch: 'delete' }] : [];
  if (conditions.length + deleted.length > 0) patch.conditions = [...conditions, ...deleted];
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const hasResize = ({ conditions = [] }: PodStatus): boolean =>
  conditions.some(({ type }) => type === resizeCondition);

function fieldPatch(field: keyof PodStatus, before: unknown, after: unknown): unknown {
  // Only fields that the node agent owns are removed.
  if (after === undefined) return ownFields.has(field) ? null : undefined;
  if (!replacedLists.includes(field) || before === undefined) return after;
  return [...(after as readonly unknown[]), { $patch: 'replace' }];
}

const ownFields: ReadonlySet<keyof PodStatus> = new Set([
  'message',
  'reason',
  'podIP',
  'podIPs',
  'initContainerStatuses',
  'containerStatuses',
]);
