// What an account holds for Services, as lines that can be compared: without the ids that AWS draws, and without what people put there.
import type { Account, ClassicBalancer, SecurityGroup, Tags, TargetGroup } from './world.ts';

const isOurs = (tags: Tags): boolean => 'kubernetes.io/service-name' in tags;

export function describeAccount(account: Account): readonly string[] {
  const groupName = (id: string): string => account.groups.get(id)?.name ?? id;
  const targetGroupName = (arn: string): string => account.targetGroups.get(arn)?.name ?? arn;
  const classic = [...account.classic.values()].filter(({ tags }) => isOurs(tags));
  const network = [...account.network.values()].filter(({ tags }) => isOurs(tags));
  const targetGroups = [...account.targetGroups.values()].filter(({ tags }) => isOurs(tags));
  const ownGroups = [...account.groups.values()].filter(({ tags }) => isOurs(tags));
  const nodeGroups = [...account.groups.values()].filter(({ tags }) => !isOurs(tags));
  return [
    ...classic.map((one) => classicLine(one, groupName)),
    ...network.map(({ arn, hostname: _hostname, ...one }) => {
      const listeners = [...account.listeners.values()]
        .filter(({ balancerArn }) => balancerArn === arn)
        .map(({ arn: _arn, balancerArn: _balancer, targetGroupArn, ...rest }) => ({
          ...rest,
          targetGroup: targetGroupName(targetGroupArn),
        }))
        .sort((a, b) => a.port - b.port);
      return line('network', one.name, { ...one, listeners });
    }),
    ...targetGroups.map(targetGroupLine),
    ...ownGroups.map((one) => line('group', one.name, { tags: one.tags })),
    ...ownGroups.flatMap((one) => ruleLines(one, groupName, () => true)),
    ...nodeGroups.flatMap((one) =>
      ruleLines(one, groupName, (text = '') => text.startsWith('kubernetes.io/rule/')),
    ),
  ].sort();
}

const line = (kind: string, name: string, rest: object): string =>
  `${kind} ${name} ${JSON.stringify(rest, sortedKeys)}`;

/** Maps say the same in whatever order. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Policies that nothing uses any more stay at a balancer. */
function classicLine(balancer: ClassicBalancer, groupName: (id: string) => string): string {
  const { hostname: _hostname, policies: _policies, groups, listeners, ...rest } = balancer;
  return line('classic', balancer.name, {
    ...rest,
    groups: groups.map(groupName).sort(),
    listeners: listeners.toSorted((a, b) => a.port - b.port),
  });
}

function targetGroupLine({ arn: _arn, targets, ...rest }: TargetGroup): string {
  const instances = Object.keys(targets).filter((id) => targets[id] === 'healthy');
  return line('target group', rest.name, { ...rest, instances: instances.sort() });
}

function ruleLines(
  group: SecurityGroup,
  groupName: (id: string) => string,
  isCounted: (description: string | undefined) => boolean,
): readonly string[] {
  return [...group.permissions.values()]
    .filter(({ description }) => isCounted(description))
    .map(({ protocol, from, to, source, description = '' }) => {
      const what = `${protocol} ${from}-${to} from ${groupName(source)}`;
      return `rule ${group.name} ${what} ${description}`;
    });
}
