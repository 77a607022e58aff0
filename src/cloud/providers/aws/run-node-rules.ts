// The rules in the security groups of the nodes, which all balancers share.
import type { AwsCalls } from './apply-sdk.ts';
import type { Change } from './changes.ts';
import { diffNodeRules, type RuleChanges } from './diff-rules.ts';
import { probeGroups } from './probe-groups.ts';
import { balancerOfRule, isSharedRule, type Rule } from './rules.ts';
import type { SuccessorOf } from './successors.ts';

export type NodeRulesRequest = {
  readonly balancer: string;
  readonly wanted: readonly Rule[];
  /** Where they are wanted. */
  readonly groupIds: readonly string[];
  /** Where they may be. */
  readonly candidateIds: readonly string[];
  readonly successorOf: SuccessorOf;
};

export type NodeRulesRunner = {
  readonly aws: AwsCalls;
  /** Looks and changes until nothing differs; the key says whose writes they are. */
  readonly converge: (key: string, plan: () => Promise<readonly Change[]>) => Promise<void>;
  /** One at a time: who needs a rule and who may take it away is decided from one picture. */
  readonly alone: <T>(act: () => Promise<T>) => Promise<T>;
};

/** Under which writes of shared rules are remembered. */
export const sharedRulesKey = 'node rules';

export async function fitNodeRules(
  runner: NodeRulesRunner,
  request: NodeRulesRequest,
): Promise<void> {
  const { balancer, wanted } = request;
  let hasShared = wanted.some(isSharedRule);
  await runner.converge(balancer, async () => {
    const groups = await probeGroups(runner.aws, request.candidateIds);
    hasShared ||= groups.some(({ rules }) =>
      rules.some((rule) => isSharedRule(rule) && balancerOfRule(rule) === balancer),
    );
    return groups.flatMap(({ id, rules }) =>
      changesOf(id, onlyOwn(diffNodeRules(inputOf(request, id, rules)))),
    );
  });
  if (!hasShared) return;
  await runner.alone(() =>
    runner.converge(sharedRulesKey, async () => {
      const groups = await probeGroups(runner.aws, request.candidateIds);
      return groups.flatMap(({ id, rules }) =>
        changesOf(id, diffNodeRules(inputOf(request, id, rules))),
      );
    }),
  );
}

function inputOf(request: NodeRulesRequest, groupId: string, found: readonly Rule[]) {
  const { balancer, groupIds, successorOf } = request;
  const wanted = groupIds.includes(groupId) ? request.wanted : [];
  return { balancer, wanted, found, successorOf: (rule: Rule) => successorOf(rule, found) };
}

function onlyOwn({ grant, revoke, describe }: RuleChanges): RuleChanges {
  const isOwn = (rule: Rule): boolean => !isSharedRule(rule);
  return {
    grant: grant.filter(isOwn),
    revoke: revoke.filter(isOwn),
    describe: describe.filter(isOwn),
  };
}

function changesOf(groupId: string, { grant, revoke, describe }: RuleChanges): Change[] {
  return [
    ...(grant.length === 0 ? [] : [{ kind: 'grant' as const, groupId, rules: grant }]),
    ...(describe.length === 0 ? [] : [{ kind: 'describe' as const, groupId, rules: describe }]),
    ...(revoke.length === 0 ? [] : [{ kind: 'revoke' as const, groupId, rules: revoke }]),
  ];
}
