// Aggregated cluster roles, which have the rules of others by label, as `admin`, `edit` and `view` do.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import {
  type LabelSelector,
  matchesSelector,
  selectorFromLabelSelector,
} from '../../meta/labels.ts';

/** Over one state of all cluster roles. */
export type Aggregation = {
  /**
   * The rules of a cluster role. One that gathers has exactly those of the roles it selects, in the order of their names and without
   * repeats; a selected role may itself gather.
   */
  readonly rulesOf: (role: ClusterRole) => readonly PolicyRule[];
};

/**
 * Comparisons of a role with a requirement, and values of rules, for all aggregated roles together: some 50 ms. A cluster with 2,000 cluster
 * roles and 20 different selectors takes a third of it. A user who may escalate can write roles that need more, as every selector of every role
 * may meet every role; then they grant what was found until then, and nothing more.
 */
const maxSteps = 300_000;
/** A part of a selector takes so many times as long to read as to compare. */
const readSteps = 20;

export function createAggregation(all: readonly ClusterRole[], steps = maxSteps): Aggregation {
  let byName: readonly ClusterRole[] | undefined;
  const selected = new Map<string, readonly ClusterRole[]>();
  let remaining = steps;

  const spend = (cost: number): boolean => {
    remaining -= cost;
    return remaining >= 0;
  };

  /** Each selector is compared once, however many roles have it. Undefined where the steps are used up. */
  function select(selector: LabelSelector): Selected | undefined {
    if (!spend(readSteps * (1 + partsOf(selector)))) return undefined;
    const text = JSON.stringify(selector);
    const known = selected.get(text);
    if (known !== undefined) return { text, roles: known };
    byName ??= [...all].sort(compareNames);
    const requirements = selectorFromLabelSelector(selector);
    if (!spend(byName.length * (1 + requirements.length))) return undefined;
    const roles = byName.filter(({ metadata }) => matchesSelector(requirements, metadata.labels));
    selected.set(text, roles);
    return { text, roles };
  }

  return {
    rulesOf(role) {
      if (role.aggregationRule === undefined) return role.rules ?? [];
      const gathered = new Map<string, PolicyRule>();
      for (const found of selectedBy(role, select)) {
        for (const rule of found.rules ?? []) {
          if (spend(valuesOf(rule))) gather(rule, gathered);
        }
      }
      return [...gathered.values()];
    },
  };
}

function gather(rule: PolicyRule, gathered: Map<string, PolicyRule>): void {
  const text = textOf(rule);
  if (!gathered.has(text)) gathered.set(text, rule);
}

/** For one role alone. */
export const aggregateRules = (
  role: ClusterRole,
  all: readonly ClusterRole[],
): readonly PolicyRule[] => createAggregation(all).rulesOf(role);

type Selected = { readonly text: string; readonly roles: readonly ClusterRole[] };
type Select = (selector: LabelSelector) => Selected | undefined;

/** Of its requirements and their values. */
function partsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): number {
  let parts = Object.keys(matchLabels).length;
  for (const { values = [] } of matchExpressions) parts += 1 + values.length;
  return parts;
}

/** A role that gathers, and how far its selectors were followed. */
type Level = {
  readonly selectors: Iterator<LabelSelector>;
  cursor: Iterator<ClusterRole>;
};

const levelOf = ({ aggregationRule }: ClusterRole): Level => ({
  selectors: (aggregationRule?.clusterRoleSelectors ?? []).values(),
  cursor: [].values(),
});

/**
 * The roles that do not gather themselves, each once, however many ways lead to it: following every way would take the factorial of the number
 * of roles that gather each other.
 */
function* selectedBy(role: ClusterRole, select: Select): Generator<ClusterRole> {
  const visited = new Set([role.metadata.name]);
  /** By selector. What one has passed was visited: for the next role with the same selector it goes on from there. */
  const cursors = new Map<string, Iterator<ClusterRole>>();
  // A stack of its own: a chain of thousands of roles must not end the one of the calls.
  const stack = [levelOf(role)];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const found = nextRole(level, select, cursors);
    if (found === undefined) stack.pop();
    else if (!visited.has(found.metadata.name)) {
      visited.add(found.metadata.name);
      if (found.aggregationRule === undefined) yield found;
      else stack.push(levelOf(found));
    }
  }
}

function nextRole(
  level: Level,
  select: Select,
  cursors: Map<string, Iterator<ClusterRole>>,
): ClusterRole | undefined {
  for (;;) {
    const { done, value } = level.cursor.next();
    if (!done) return value;
    const selector = level.selectors.next();
    const selected = selector.done ? undefined : select(selector.value);
    if (selected === undefined) return undefined;
    const { text, roles } = selected;
    level.cursor = cursors.get(text) ?? roles.values();
    cursors.set(text, level.cursor);
  }
}

const listsOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) => [
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
];

/** Equal for equal rules; an empty list is an absent one. */
const textOf = (rule: PolicyRule): string =>
  JSON.stringify(listsOf(rule).map((list) => list ?? []));

const valuesOf = (rule: PolicyRule): number =>
  listsOf(rule).reduce((sum, list) => sum + (list?.length ?? 0), 1);

function compareNames(a: ClusterRole, b: ClusterRole): number {
  const [left, right] = [a.metadata.name ?? '', b.metadata.name ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
