// Whether the indexes that have succeeded meet the success policy. Upstream: pkg/controller/job/success_policy.go.
import { countIndexes, type IndexInterval, readIndexes } from '../../kinds/job/indexes.ts';
import type { SuccessPolicy, SuccessRule } from '../../kinds/job/types.ts';

/** The message, where a rule is met. */
export function matchSuccessPolicy(
  policy: SuccessPolicy | undefined,
  completions: number,
  succeeded: readonly IndexInterval[],
): string | undefined {
  const rules = policy?.rules ?? [];
  const index = rules.findIndex((rule) => isMet(rule, completions, succeeded));
  return index === -1 ? undefined : `Matched rules at index ${index}`;
}

function isMet(
  { succeededIndexes, succeededCount }: SuccessRule,
  completions: number,
  succeeded: readonly IndexInterval[],
): boolean {
  if (succeededIndexes === undefined)
    return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
  const required = readIndexes(succeededIndexes, completions);
  const total = countIndexes(required);
  if (total === 0 || succeeded.length === 0) return false;
  return countCommon(required, succeeded) >= (succeededCount ?? total);
}

function countCommon(a: readonly IndexInterval[], b: readonly IndexInterval[]): number {
  let count = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const x = a[i];
    const y = b[j];
    if (x === undefined || y === undefined) break;
    count += Math.max(0, Math.min(x.last, y.last) - Math.max(x.first, y.first) + 1);
    if (x.last < y.last) i += 1;
    else j += 1;
  }
  return count;
}
