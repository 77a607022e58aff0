import type { LabelSelector } from '../../meta/labels.ts';

/** Present, and without a requirement: it would select every pod. */
export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}
