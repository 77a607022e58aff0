// What to send so that the status of a pod becomes what the node says; nothing when it is already so.

import { podConditionPatch } from '../../kinds/pod/conditions.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import { deepEqual } from '../../schema/equality.ts';
import { resizeCondition } from './pod-conditions.ts';

/** Conditions belong to whoever writes them: ours are merged, others stay. Lists merged by key are replaced whole. */
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
    (wanted) =>
      !deepEqual(
        before.conditions?.find(({ type }) => type === wanted.type),
        wanted,
      ),
  );
  const conditions = changed.map((wanted) => podConditionPatch(before.conditions, wanted));
  const isOver = hasResize(before) && !hasResize(after);
  const gone = isOver ? [{ type: resizeCondition, $patch: 'delete' }] : [];
  if (conditions.length + gone.length > 0) patch.conditions = [...conditions, ...gone];
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const hasResize = ({ conditions = [] }: PodStatus): boolean =>
  conditions.some(({ type }) => type === resizeCondition);

function fieldPatch(field: keyof PodStatus, before: unknown, after: unknown): unknown {
  // Fields that no node agent writes are somebody else's.
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
