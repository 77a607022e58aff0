// A policy rule, prepared for fast checks of which verbs, groups, resources and names it covers.
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { urlMatches } from './rbac-rules.ts';

/** One side of a box. `null` stands for every name. */
export type Side = {
  readonly coversAll: boolean;
  readonly covers: (value: string | null) => boolean;
  /** Comparisons for one value. */
  readonly cost: number;
};

/** Verbs, groups, resources, names; or verbs and paths. */
export type Sides = readonly Side[];

export type PreparedRule = {
  readonly resources: Sides;
  /** Absent when the rule gives none. */
  readonly urls?: Sides;
};

const cache = new WeakMap<PolicyRule, PreparedRule>();

export function prepareRule(rule: PolicyRule): PreparedRule {
  let covered = cache.get(rule);
  if (covered === undefined) {
    covered = makePreparedRule(rule);
    cache.set(rule, covered);
  }
  return covered;
}

function makePreparedRule(rule: PolicyRule): PreparedRule {
  const verbs = listed(rule.verbs ?? []);
  const names = rule.resourceNames ?? [];
  const urls = rule.nonResourceURLs ?? [];
  return {
    resources: [
      verbs,
      listed(rule.apiGroups ?? []),
      resourceSide(rule.resources ?? []),
      names.length === 0 ? everything : side(names),
    ],
    ...(urls.length === 0 || names.length > 0 ? {} : { urls: [verbs, urlSide(urls)] }),
  };
}

const everything: Side = { coversAll: true, covers: () => true, cost: 0 };

/** Up to this length a list is as fast as a set. */
const maxListLength = 8;

function side(values: readonly string[]): Side {
  const covers = containing(values);
  return { coversAll: false, covers: (value) => value !== null && covers(value), cost: 1 };
}

function containing(values: readonly string[]): (value: string) => boolean {
  if (values.length <= maxListLength) return (value) => values.includes(value);
  const set = new Set(values);
  return (value) => set.has(value);
}

const listed = (values: readonly string[]): Side =>
  values.includes('*') ? everything : side(values);

/** A star with a subresource covers that subresource of all resources. */
function resourceSide(resources: readonly string[]): Side {
  if (resources.includes('*')) return everything;
  const contains = containing(resources);
  return {
    coversAll: false,
    covers(value) {
      if (value === null) return false;
      if (contains(value)) return true;
      const slash = value.indexOf('/');
      return slash >= 0 && contains(`*${value.slice(slash)}`);
    },
    cost: 1,
  };
}

function urlSide(urls: readonly string[]): Side {
  if (urls.includes('*')) return everything;
  const isExact = containing(urls);
  const patterns = urls.filter((url) => url.endsWith('*'));
  return {
    coversAll: false,
    covers: (value) =>
      value !== null && (isExact(value) || patterns.some((url) => urlMatches(url, value))),
    cost: 1 + patterns.length,
  };
}
