// (wanted, found) → the next changes. Only those are in it for which everything they need is found: who carries them out looks
// again and asks again until there are none. So it makes no difference where an earlier run has stopped.
import type { Found, GroupFound, Wanted } from './balancer.ts';
import type { Change } from './changes.ts';
import { diffClassic } from './diff-classic.ts';
import { diffNetwork } from './diff-network.ts';
import { diffOwnRules } from './diff-rules.ts';
import { missingTags } from './differences.ts';

/** Everything but the group that is no longer needed: that can only go when no rule names it any more. */
export function diff(wanted: Wanted, found: Found): readonly Change[] {
  const replaced = diffReplaced(wanted, found);
  if (replaced.length > 0) return replaced;
  if (wanted.balancer.kind === 'network') {
    return diffNetwork({ ...wanted, balancer: wanted.balancer }, found);
  }
  const group = diffGroup(wanted, found.group);
  if (wanted.group !== undefined && found.group === undefined) return group;
  const groupIds = [
    ...(wanted.group !== undefined && found.group !== undefined ? [found.group.id] : []),
    ...wanted.balancer.groupIds,
  ];
  const classic = diffClassic({ ...wanted, balancer: wanted.balancer, groupIds }, found.classic);
  return [...group, ...classic, ...leftTargetGroups(found)];
}

/** Takes away all of it but the group. */
export function diffNothing(name: string, found: Found): readonly Change[] {
  const balancers: Change[] = [
    ...(found.classic === undefined ? [] : [{ kind: 'deleteClassic' as const, name }]),
    ...(found.network === undefined
      ? []
      : [{ kind: 'deleteNetwork' as const, arn: found.network.arn }]),
  ];
  return balancers.length > 0 ? balancers : leftTargetGroups(found);
}

/** Kind and scheme of a load balancer cannot change: another value needs another load balancer. */
function diffReplaced({ name, balancer }: Wanted, { classic, network }: Found): Change[] {
  const { kind, isInternal } = balancer;
  const changes: Change[] = [];
  if (classic !== undefined && (kind !== 'classic' || classic.isInternal !== isInternal)) {
    changes.push({ kind: 'deleteClassic', name });
  }
  if (network !== undefined && (kind !== 'network' || network.isInternal !== isInternal)) {
    changes.push({ kind: 'deleteNetwork', arn: network.arn });
  }
  return changes;
}

function leftTargetGroups({ network, targetGroups }: Found): Change[] {
  const used = new Set(network?.listeners.map(({ targetGroupArn }) => targetGroupArn));
  return targetGroups
    .filter(({ arn }) => !used.has(arn))
    .map(({ arn }) => ({ kind: 'deleteTargetGroup', arn }));
}

function diffGroup({ group, vpcId, tags }: Wanted, found: GroupFound | undefined): Change[] {
  if (group === undefined) return [];
  if (found === undefined) return [{ kind: 'createGroup', vpcId, group, tags }];
  const missing = missingTags(tags, found.tags);
  const groupId = found.id;
  const { grant, revoke } = diffOwnRules(group.rules, found.rules);
  return [
    ...(missing === undefined ? [] : [{ kind: 'tagGroup' as const, groupId, tags: missing }]),
    ...(grant.length === 0 ? [] : [{ kind: 'grant' as const, groupId, rules: grant }]),
    ...(revoke.length === 0 ? [] : [{ kind: 'revoke' as const, groupId, rules: revoke }]),
  ];
}
