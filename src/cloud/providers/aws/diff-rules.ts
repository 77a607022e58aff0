// What has to change in security groups: in one of our own everything is ours, in those of the nodes only what says so.
import { balancerOfRule, describeRule, type Rule, ruleKey } from './rules.ts';

export type RuleChanges = {
  readonly grant: readonly Rule[];
  readonly revoke: readonly Rule[];
  /** The same rule with another description. */
  readonly describe: readonly Rule[];
};

export function diffOwnRules(
  wanted: readonly Rule[],
  found: readonly Rule[],
): Omit<RuleChanges, 'describe'> {
  const wantedKeys = new Set(wanted.map(ruleKey));
  const foundKeys = new Set(found.map(ruleKey));
  return {
    grant: wanted.filter((rule) => !foundKeys.has(ruleKey(rule))),
    revoke: found.filter((rule) => !wantedKeys.has(ruleKey(rule))),
  };
}

export type NodeRulesInput = {
  readonly balancer: string;
  /** What this balancer needs in this group. */
  readonly wanted: readonly Rule[];
  readonly found: readonly Rule[];
  /** Who else needs a rule that AWS can hold only once: the same rule with the other's description. */
  readonly successorOf: (rule: Rule) => Rule | undefined;
};

/**
 * Two balancers may need the same rule (health checks from one subnet, ICMP from anywhere), and AWS holds it once, with one description.
 * The second balancer finds the rule there. The balancer named in the description hands the rule on when it is deleted. A rule without a
 * description belongs to a user.
 */
export function diffNodeRules({
  balancer,
  wanted,
  found,
  successorOf,
}: NodeRulesInput): RuleChanges {
  const foundByKey = new Map(found.map((rule) => [ruleKey(rule), rule]));
  const wantedKeys = new Set(wanted.map(ruleKey));
  const left = found.filter(
    (rule) => balancerOfRule(rule) === balancer && !wantedKeys.has(ruleKey(rule)),
  );
  const successors = new Map(left.map((rule) => [rule, successorOf(rule)]));
  const takenOver = wanted.filter((rule) => {
    const there = foundByKey.get(ruleKey(rule));
    return there !== undefined && isTakenOver(rule, there);
  });
  return {
    grant: wanted.filter((rule) => !foundByKey.has(ruleKey(rule))),
    revoke: left.filter((rule) => successors.get(rule) === undefined),
    describe: [...takenOver, ...[...successors.values()].filter((rule) => rule !== undefined)],
  };
}

/** A node port has one Service: a balancer named in the description had the port before, and would delete the rule. */
function isTakenOver(wanted: Rule, there: Rule): boolean {
  const isClientRule = (wanted.description ?? '').startsWith(describeRule('nlb/client', ''));
  const other = balancerOfRule(there);
  return isClientRule && other !== undefined && there.description !== wanted.description;
}
