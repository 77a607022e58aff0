// The part of EC2 (2016-11-15) that balancers need: subnets, routes, instances, security groups.
import type { Action } from './classic.ts';
import { type Fields, numberOf, recordsOf, tagsIn, textOf, textsOf } from './query.ts';
import {
  AwsError,
  drop,
  type Permission,
  pageOf,
  permissionKey,
  put,
  type SecurityGroup,
  type Tags,
  type World,
} from './world.ts';
import type { Xml } from './xml.ts';

type Matchable = Readonly<Record<string, string | undefined>>;

/** All filters must hold, each with one of its values. */
function isChosen(input: Fields, facts: Matchable, tags: Tags): boolean {
  return recordsOf(input, 'Filter').every((filter) => {
    const name = textOf(filter, 'Name') ?? '';
    const values = textsOf(filter, 'Value');
    if (name === 'tag-key') return values.some((key) => key in tags);
    if (name.startsWith('tag:')) return values.includes(tags[name.slice(4)] ?? '');
    if (!(name in facts)) throw new AwsError('InvalidParameterValue', `No filter '${name}'`);
    return values.includes(facts[name] ?? '');
  });
}

const tagSet = (tags: Tags): Xml => Object.entries(tags).map(([key, value]) => ({ key, value }));

function answer<T>(input: Fields, world: World, items: readonly T[], as: (one: T) => Xml) {
  const { page, next } = pageOf(items, world.limits.pageSize, textOf(input, 'NextToken'));
  return { items: page.map(as), nextToken: next };
}

function describeSubnets(input: Fields, world: World): Xml {
  const found = [...world.shown().subnets.values()].filter(({ id, vpcId, tags }) =>
    isChosen(input, { 'subnet-id': id, 'vpc-id': vpcId }, tags),
  );
  const { items, nextToken } = answer(input, world, found, (subnet) => ({
    subnetId: subnet.id,
    vpcId: subnet.vpcId,
    availabilityZone: subnet.zone,
    cidrBlock: subnet.cidr,
    tagSet: tagSet(subnet.tags),
  }));
  return { subnetSet: items, nextToken };
}

/** One table for public subnets, and the main one for all others. */
function describeRouteTables(input: Fields, world: World): Xml {
  const subnets = [...world.shown().subnets.values()];
  const vpcs = [...new Set(subnets.map(({ vpcId }) => vpcId))];
  const found = vpcs.filter((vpcId) => isChosen(input, { 'vpc-id': vpcId }, {}));
  const local = { destinationCidrBlock: '10.0.0.0/16', gatewayId: 'local', state: 'active' };
  const internet = { destinationCidrBlock: '0.0.0.0/0', gatewayId: 'igw-1', state: 'active' };
  const tables = found.flatMap((vpcId) => [
    { vpcId, routeSet: [local], associationSet: [{ main: true }] },
    {
      vpcId,
      routeSet: [local, internet],
      associationSet: subnets
        .filter((subnet) => subnet.vpcId === vpcId && subnet.isPublic)
        .map(({ id }) => ({ subnetId: id, main: false })),
    },
  ]);
  const { items, nextToken } = answer(input, world, tables, (table) => table);
  return { routeTableSet: items, nextToken };
}

function describeInstances(input: Fields, world: World): Xml {
  const found = [...world.shown().instances.values()].filter(({ id, state }) =>
    isChosen(input, { 'instance-id': id, 'instance-state-name': state }, {}),
  );
  const { items, nextToken } = answer(input, world, found, ({ id, state, groups }) => ({
    reservationId: `r-${id}`,
    instancesSet: [
      {
        instanceId: id,
        instanceState: { name: state },
        groupSet: groups.map((groupId) => ({ groupId })),
      },
    ],
  }));
  return { reservationSet: items, nextToken };
}

function describeGroups(input: Fields, world: World): Xml {
  const found = [...world.shown().groups.values()].filter(({ id, name, vpcId, tags }) =>
    isChosen(input, { 'group-id': id, 'group-name': name, 'vpc-id': vpcId }, tags),
  );
  const { items, nextToken } = answer(input, world, found, groupXml);
  return { securityGroupInfo: items, nextToken };
}

/** As AWS gathers them: one permission with all its sources for each protocol and range of ports. */
function groupXml(group: SecurityGroup): Xml {
  const byPorts = new Map<string, Permission[]>();
  for (const permission of group.permissions.values()) {
    const { protocol, from, to } = permission;
    const key = `${protocol} ${from} ${to}`;
    byPorts.set(key, [...(byPorts.get(key) ?? []), permission]);
  }
  const isGroup = ({ source }: Permission): boolean => source.startsWith('sg-');
  return {
    groupId: group.id,
    groupName: group.name,
    groupDescription: group.description,
    vpcId: group.vpcId,
    tagSet: tagSet(group.tags),
    ipPermissions: [...byPorts.values()].map((permissions) => {
      const { protocol = '-1', from = -1, to = -1 } = permissions[0] ?? {};
      return {
        ipProtocol: protocol,
        ...(protocol === '-1' ? {} : { fromPort: from, toPort: to }),
        ipRanges: permissions
          .filter((one) => !isGroup(one))
          .map(({ source, description }) => ({ cidrIp: source, description })),
        groups: permissions
          .filter(isGroup)
          .map(({ source, description }) => ({ groupId: source, description })),
      };
    }),
  };
}

const descriptionPattern = /^[\w .:/()#,@[\]+=&;{}!$*-]{0,255}$/;

function createGroup(input: Fields, world: World): Xml {
  const name = textOf(input, 'GroupName') ?? '';
  const vpcId = textOf(input, 'VpcId') ?? '';
  const description = textOf(input, 'GroupDescription') ?? '';
  if (name === '' || name.startsWith('sg-') || description === '') {
    throw new AwsError('InvalidParameterValue', 'A group needs a name and a description');
  }
  if (!descriptionPattern.test(name) || !descriptionPattern.test(description)) {
    throw new AwsError('InvalidParameterValue', 'Character sets beyond ASCII are not supported');
  }
  const twin = [...world.now().groups.values()].find(
    (one) => one.name === name && one.vpcId === vpcId,
  );
  if (twin !== undefined) {
    throw new AwsError('InvalidGroup.Duplicate', `The security group '${name}' already exists`);
  }
  const id = `sg-${world.nextId()}`;
  const [specification = {}] = recordsOf(input, 'TagSpecification');
  const tags = tagsIn(specification, 'Tag');
  const made = { id, name, description, vpcId, permissions: new Map(), tags };
  world.change((account) => ({ ...account, groups: put(account.groups, id, made) }));
  return { groupId: id };
}

function groupOf(input: Fields, world: World): SecurityGroup {
  const id = textOf(input, 'GroupId') ?? '';
  const found = world.now().groups.get(id);
  if (found !== undefined) return found;
  throw new AwsError('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
}

function deleteGroup(input: Fields, world: World): Xml {
  const { id } = groupOf(input, world);
  // A balancer that has just gone keeps its interfaces a little longer.
  const balancers = [...world.now().classic.values(), ...world.shown().classic.values()];
  const isUsed =
    balancers.some(({ groups }) => groups.includes(id)) ||
    [...world.now().instances.values()].some(({ groups }) => groups.includes(id)) ||
    [...world.now().groups.values()].some(
      (other) =>
        other.id !== id && [...other.permissions.values()].some(({ source }) => source === id),
    );
  if (isUsed) {
    throw new AwsError('DependencyViolation', `resource ${id} has a dependent object`);
  }
  world.change((account) => ({ ...account, groups: drop(account.groups, id) }));
  return { return: true };
}

function readPermissions(input: Fields, world: World): readonly Permission[] {
  return recordsOf(input, 'IpPermissions').flatMap((fields) => {
    const protocol = textOf(fields, 'IpProtocol') ?? '';
    const from = numberOf(fields, 'FromPort') ?? -1;
    const to = numberOf(fields, 'ToPort') ?? -1;
    if (protocol !== '-1' && (from < 0 || to < 0)) {
      throw new AwsError('MissingParameter', 'FromPort and ToPort are required');
    }
    const sources = [
      ...recordsOf(fields, 'IpRanges').map((one) => ({ ...one, source: cidrOf(one) })),
      ...recordsOf(fields, 'Groups').map((one) => ({ ...one, source: knownGroup(one, world) })),
    ];
    return sources.map((one) => {
      const description = textOf(one, 'Description');
      if (description !== undefined && !descriptionPattern.test(description)) {
        throw new AwsError('InvalidParameterValue', 'Invalid rule description');
      }
      const { source } = one;
      return { protocol, from, to, source, ...(description === undefined ? {} : { description }) };
    });
  });
}

function cidrOf(fields: Fields): string {
  const cidr = textOf(fields, 'CidrIp') ?? '';
  if (/^\d+\.\d+\.\d+\.\d+\/\d+$/.test(cidr)) return cidr;
  throw new AwsError('InvalidParameterValue', `CIDR block ${cidr} is malformed`);
}

function knownGroup(fields: Fields, world: World): string {
  const id = textOf(fields, 'GroupId') ?? '';
  if (world.now().groups.has(id)) return id;
  throw new AwsError(
    'InvalidGroup.NotFound',
    `You have specified a group that does not exist: ${id}`,
  );
}

/** All of them or none. */
function changePermissions(
  input: Fields,
  world: World,
  act: (permissions: Map<string, Permission>, one: Permission) => void,
): Xml {
  const group = groupOf(input, world);
  const permissions = new Map(group.permissions);
  for (const one of readPermissions(input, world)) act(permissions, one);
  if (permissions.size > Math.max(world.limits.rulesPerGroup, group.permissions.size)) {
    throw new AwsError('RulesPerSecurityGroupLimitExceeded', 'Too many rules');
  }
  const after = { ...group, permissions };
  world.change((account) => ({ ...account, groups: put(account.groups, group.id, after) }));
  return { return: true };
}

export const computeActions: Readonly<Record<string, Action>> = {
  DescribeSubnets: describeSubnets,
  DescribeRouteTables: describeRouteTables,
  DescribeInstances: describeInstances,
  DescribeSecurityGroups: describeGroups,
  CreateSecurityGroup: createGroup,
  DeleteSecurityGroup: deleteGroup,
  CreateTags: (input, world) => {
    for (const id of textsOf(input, 'ResourceId')) {
      const group = groupOf({ GroupId: id }, world);
      const after = { ...group, tags: { ...group.tags, ...tagsIn(input, 'Tag') } };
      world.change((account) => ({ ...account, groups: put(account.groups, id, after) }));
    }
    return { return: true };
  },
  AuthorizeSecurityGroupIngress: (input, world) =>
    changePermissions(input, world, (permissions, one) => {
      const key = permissionKey(one);
      if (permissions.has(key)) {
        throw new AwsError('InvalidPermission.Duplicate', `the specified rule "${key}" exists`);
      }
      permissions.set(key, one);
    }),
  RevokeSecurityGroupIngress: (input, world) =>
    changePermissions(input, world, (permissions, one) => {
      if (permissions.delete(permissionKey(one))) return;
      throw new AwsError('InvalidPermission.NotFound', 'The specified rule does not exist');
    }),
  UpdateSecurityGroupRuleDescriptionsIngress: (input, world) =>
    changePermissions(input, world, (permissions, one) => {
      const key = permissionKey(one);
      if (!permissions.has(key)) {
        throw new AwsError('InvalidPermission.NotFound', 'The specified rule does not exist');
      }
      permissions.set(key, one);
    }),
};
