// Whether some rules give everything that others give, and what is missing, as messages show it.
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { goQuoteList } from './go-quote.ts';
import { urlMatches } from './rbac-rules.ts';

/** What `owned` lacks of `wanted`, in the smallest parts: one verb on one thing. Empty when nothing. */
export function missingRules(
  owned: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !owned.some((rule) => covers(rule, part)));
}

function breakDown(rule: PolicyRule): readonly PolicyRule[] {
  const verbs = rule.verbs ?? [];
  const names = rule.resourceNames?.length
    ? rule.resourceNames.map((name) => ({ resourceNames: [name] }))
    : [{}];
  const onResources = (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...name,
        })),
      ),
    ),
  );
  const onPaths = (rule.nonResourceURLs ?? []).flatMap((url) =>
    verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [url] })),
  );
  return [...onResources, ...onPaths];
}

/** Whether one rule gives all of a broken-down one. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  return (
    includesAll(rule.verbs, part.verbs) &&
    includesAll(rule.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => coversResource(rule.resources ?? [], resource)) &&
    (part.nonResourceURLs ?? []).every((url) =>
      (rule.nonResourceURLs ?? []).some((owned) => urlMatches(owned, url)),
    ) &&
    coversNames(rule.resourceNames, part.resourceNames)
  );
}

function includesAll(
  owned: readonly string[] | null | undefined,
  wanted: readonly string[] | null | undefined,
): boolean {
  return (wanted ?? []).every((value) => owned?.includes('*') || owned?.includes(value));
}

function coversResource(owned: readonly string[], wanted: string): boolean {
  if (owned.includes('*') || owned.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && owned.includes(`*${wanted.slice(slash)}`);
}

function coversNames(
  owned: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): boolean {
  if (owned === undefined || owned.length === 0) return true;
  return wanted !== undefined && wanted.length > 0 && wanted.every((name) => owned.includes(name));
}

/** Lines for people: verbs on the same thing together, in alphabetical order, no line twice. */
export function describeRules(rules: readonly PolicyRule[]): readonly string[] {
  return [...new Set(joinVerbs(rules).map(describeRule))].sort();
}

function joinVerbs(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const part of parts) {
    if (part.nonResourceURLs?.length) {
      others.push(part);
      continue;
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames]);
    const found = joined.get(key);
    joined.set(key, { ...part, verbs: [...(found?.verbs ?? []), ...(part.verbs ?? [])] });
  }
  return [...others, ...joined.values()];
}

function describeRule(rule: PolicyRule): string {
  const fields: readonly (readonly [string, readonly string[] | null | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = fields.flatMap(([name, values]) =>
    values?.length ? [`${name}:${goQuoteList(values)}`] : [],
  );
  return `{${shown.join(', ')}}`;
}
