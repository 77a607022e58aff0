// What appeared and what went between two diagnoses.
import type { Finding } from './check.ts';
import { objectId } from './object-names.ts';

export type FindingChanges = {
  readonly appeared: readonly Finding[];
  readonly gone: readonly Finding[];
};

export function findingChanges(
  before: readonly Finding[],
  after: readonly Finding[],
): FindingChanges {
  const [known, present] = [before, after].map((all) => new Set(all.map(identity)));
  return {
    appeared: after.filter((one) => known?.has(identity(one)) !== true),
    gone: before.filter((one) => present?.has(identity(one)) !== true),
  };
}

/** Without the words: counts and names of pods in them change while the finding stays. */
function identity({ code, severity, about, evidence }: Finding): string {
  const [first] = evidence;
  // Findings of one check about one object differ by what they are based on.
  const basis = first === undefined ? '' : `${first.object.kind} ${first.field}`;
  return `${code} ${severity} ${objectId(about)} ${basis}`;
}
