// Changes of security groups, as calls.
import type { IpPermission } from '@aws-sdk/client-ec2';
import type { AwsCalls } from './apply-sdk.ts';
import type { GroupChange } from './changes.ts';
import { isAlready, isGone } from './errors.ts';
import type { Tags } from './names.ts';
import { isGroupSource, type Rule } from './rules.ts';

export async function applyGroupChange(aws: AwsCalls, change: GroupChange): Promise<void> {
  switch (change.kind) {
    case 'createGroup': {
      const { vpcId, group, tags } = change;
      await aws.createSecurityGroup({
        VpcId: vpcId,
        GroupName: group.name,
        Description: group.description,
        TagSpecifications: [{ ResourceType: 'security-group', Tags: tagList(tags) }],
      });
      return;
    }
    case 'tagGroup':
      await aws.createTags({ Resources: [change.groupId], Tags: tagList(change.tags) });
      return;
    case 'grant':
      await eachAlone(change.rules, isAlready, (IpPermissions) =>
        aws.authorizeSecurityGroupIngress({ GroupId: change.groupId, IpPermissions }),
      );
      return;
    case 'revoke':
      await eachAlone(change.rules, isGone, (IpPermissions) =>
        aws.revokeSecurityGroupIngress({ GroupId: change.groupId, IpPermissions }),
      );
      return;
    case 'describe':
      await eachAlone(change.rules, isGone, (IpPermissions) =>
        aws.updateSecurityGroupRuleDescriptionsIngress({ GroupId: change.groupId, IpPermissions }),
      );
      return;
    case 'deleteGroup':
      await aws.deleteSecurityGroup({ GroupId: change.groupId });
  }
}

/** One rule that is as wanted already makes the whole call fail: then they go one by one. */
async function eachAlone(
  rules: readonly Rule[],
  isDone: (error: unknown) => boolean,
  send: (permissions: IpPermission[]) => Promise<unknown>,
): Promise<void> {
  try {
    await send(rules.map(permissionOf));
  } catch (error) {
    if (!isDone(error)) throw error;
    if (rules.length === 1) return;
    for (const rule of rules) await eachAlone([rule], isDone, send);
  }
}

function permissionOf(rule: Rule): IpPermission {
  const { protocol, from, to, source, description } = rule;
  const described = description === undefined ? {} : { Description: description };
  return {
    IpProtocol: protocol,
    ...(protocol === '-1' ? {} : { FromPort: from, ToPort: to }),
    ...(isGroupSource(rule)
      ? { UserIdGroupPairs: [{ GroupId: source, ...described }] }
      : source.includes(':')
        ? { Ipv6Ranges: [{ CidrIpv6: source, ...described }] }
        : { IpRanges: [{ CidrIp: source, ...described }] }),
  };
}

export type TagList = { Key: string; Value: string }[];

export function tagList(tags: Tags): TagList {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}
