// Node selector and affinity of a pod with scheduling gates: updates may narrow the choice of nodes, never widen it.
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { type NodeAffinity, type NodeSelectorTerm, nodeSelectorTerm } from './affinity.ts';
import { internalForm } from './internal-form.ts';
import type { PodSpec } from './pod-spec.ts';

const affinityField = 'spec.affinity.nodeAffinity';
const termsField = `${affinityField}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;

export const isGated = (spec: PodSpec): boolean => (spec.schedulingGates ?? []).length > 0;

export function validatePlacementUpdate(before: PodSpec, after: PodSpec): readonly FieldError[] {
  return [
    ...validateSelectorUpdate(before.nodeSelector ?? {}, after.nodeSelector),
    ...validateAffinityUpdate(before.affinity?.nodeAffinity, after.affinity?.nodeAffinity),
  ];
}

/** The new spec with the previous placement, so that the remaining comparison finds other changes only. */
export function restoredPlacement(before: PodSpec, after: PodSpec): object {
  const { nodeSelector } = before;
  const was = before.affinity?.nodeAffinity;
  const is = after.affinity?.nodeAffinity;
  if (deepEqual(was ?? null, is ?? null)) return { nodeSelector };
  const { nodeAffinity: _changed, ...others } = after.affinity ?? {};
  const isOnlyNodes = before.affinity === undefined && Object.keys(others).length === 0;
  const restored = { ...(was === undefined ? {} : { nodeAffinity: was }), ...others };
  return { nodeSelector, affinity: isOnlyNodes ? undefined : restored };
}

type Selector = Readonly<Record<string, string>>;

function validateSelectorUpdate(
  before: Selector,
  after: Selector | undefined,
): readonly FieldError[] {
  const isKept = Object.entries(before).every(([key, value]) => after?.[key] === value);
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return isKept ? [] : [invalid('spec.nodeSelector', after, detail)];
}

function validateAffinityUpdate(
  before: NodeAffinity | undefined,
  after: NodeAffinity | undefined,
): readonly FieldError[] {
  const was = before?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const is = after?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (was.length === 0 || deepEqual(before, after)) return [];
  if (was.length !== (is ?? []).length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [invalid(termsField, is?.map(shown), detail)];
  }
  return (is ?? []).flatMap((term, index) =>
    hasOnlyAdditions(was[index] ?? {}, term)
      ? []
      : [
          invalid(
            `${termsField}[${index}]`,
            shown(term),
            'only additions are allowed (no mutations or deletions)',
          ),
        ],
  );
}

const shown = (term: NodeSelectorTerm): object => internalForm(nodeSelectorTerm, term);

/** An empty term matches nothing, so any content would widen it. */
function hasOnlyAdditions(before: NodeSelectorTerm, after: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  const isEmpty = (term: NodeSelectorTerm) =>
    lists.every((list) => (term[list] ?? []).length === 0);
  if (isEmpty(before)) return isEmpty(after);
  return lists.every((list) => {
    const was = before[list] ?? [];
    return deepEqual((after[list] ?? []).slice(0, was.length), was);
  });
}
