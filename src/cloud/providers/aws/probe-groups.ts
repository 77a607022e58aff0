// Security groups as they stand.
import type { Filter, IpPermission, SecurityGroup } from '@aws-sdk/client-ec2';
import type { AwsCalls } from './apply-sdk.ts';
import type { GroupFound } from './balancer.ts';
import { clusterTag } from './names.ts';
import { chunks, collectPages, maxFilterValues } from './pages.ts';
import { readTags } from './probe-surroundings.ts';
import type { Rule } from './rules.ts';

/** The one that was made for a balancer; in whatever VPC, because it may have been made when another was asked for. */
export async function probeGroup(
  aws: AwsCalls,
  name: string,
  vpcId?: string,
): Promise<GroupFound | undefined> {
  const [group] = await probe(aws, [
    { Name: 'group-name', Values: [name] },
    ...(vpcId === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcId] }]),
  ]);
  return group;
}

/** All that the cluster may use: those of nodes and those of balancers. */
export function probeClusterGroups(aws: AwsCalls, cluster: string): Promise<readonly GroupFound[]> {
  return probe(aws, [{ Name: 'tag-key', Values: [clusterTag(cluster)] }]);
}

export async function probeGroups(
  aws: AwsCalls,
  ids: readonly string[],
): Promise<readonly GroupFound[]> {
  const found: GroupFound[] = [];
  for (const some of chunks(ids, maxFilterValues)) {
    found.push(...(await probe(aws, [{ Name: 'group-id', Values: [...some] }])));
  }
  return found;
}

async function probe(aws: AwsCalls, Filters: Filter[]): Promise<readonly GroupFound[]> {
  const groups = await collectPages(async (NextToken) => {
    const page = NextToken === undefined ? {} : { NextToken };
    const { SecurityGroups, NextToken: next } = await aws.describeSecurityGroups({
      ...page,
      Filters,
    });
    return { items: SecurityGroups, next };
  });
  return groups.map(readGroup);
}

function readGroup({ GroupId = '', Tags, IpPermissions = [] }: SecurityGroup): GroupFound {
  return { id: GroupId, tags: readTags(Tags), rules: IpPermissions.flatMap(readPermission) };
}

function readPermission(permission: IpPermission): Rule[] {
  const { IpProtocol: protocol = '-1', FromPort: from = -1, ToPort: to = -1 } = permission;
  const rule = (source: string | undefined, description: string | undefined): Rule[] =>
    source === undefined
      ? []
      : [{ protocol, from, to, source, ...(description === undefined ? {} : { description }) }];
  return [
    ...(permission.IpRanges ?? []).flatMap((one) => rule(one.CidrIp, one.Description)),
    ...(permission.Ipv6Ranges ?? []).flatMap((one) => rule(one.CidrIpv6, one.Description)),
    ...(permission.UserIdGroupPairs ?? []).flatMap((one) => rule(one.GroupId, one.Description)),
  ];
}
