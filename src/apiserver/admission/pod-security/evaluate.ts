// Evaluates the checks of a level and version.
import { baselineChecks } from './baseline-checks.ts';
import type { Check, CheckedPod, RunCheck, Violation } from './check.ts';
import type { Level, LevelVersion } from './policy.ts';
import { restrictedChecks } from './restricted-checks.ts';

const all = [baselineChecks, restrictedChecks].flatMap((checks) =>
  checks.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
);

/** The newest minor version with a change: later ones and `latest` are the same. */
export const newestVersion = Math.max(
  ...all.flatMap(({ versions }) => versions.map(({ since }) => since)),
);

const runs: Readonly<Record<Exclude<Level, 'privileged'>, readonly (readonly RunCheck[])[]>> = {
  baseline: eachVersion((version) => runsOf(baselineChecksIn(), version)),
  restricted: eachVersion((version) => runsOf(restrictedIn(version), version)),
};

/** The violations of a pod, in upstream's order. */
export function violationsOf(
  { level, version }: LevelVersion,
  pod: CheckedPod,
): readonly Violation[] {
  if (level === 'privileged') return [];
  const at = version === 'latest' ? newestVersion : Math.min(version, newestVersion);
  return (runs[level][at] ?? []).flatMap((run) => run(pod) ?? []);
}

export const reasonsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');

export const detailsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');

function eachVersion<T>(make: (version: number) => T): readonly T[] {
  return Array.from({ length: newestVersion + 1 }, (_, version) => make(version));
}

function baselineChecksIn(): readonly Check[] {
  return all.filter(({ level }) => level === 'baseline');
}

/** Includes the baseline checks, except those that stricter ones replace in this version. */
function restrictedIn(version: number): readonly Check[] {
  const replaced = new Set(
    restrictedChecks
      .filter((check) => runIn(check, version) !== undefined)
      .flatMap(({ overrides = [] }) => overrides),
  );
  return all.filter(({ id }) => !replaced.has(id));
}

function runsOf(checks: readonly Check[], version: number): readonly RunCheck[] {
  return checks.flatMap((check) => runIn(check, version) ?? []);
}

function runIn({ versions }: Check, version: number): RunCheck | undefined {
  return versions.findLast(({ since }) => since <= version)?.run;
}
