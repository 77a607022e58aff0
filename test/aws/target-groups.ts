// Target groups of Elastic Load Balancing version 2.
import type { Action } from './classic.ts';
import { type Fields, numberOf, recordsOf, tagsIn, textOf, textsOf } from './query.ts';
import {
  AwsError,
  balancerNamePattern,
  drop,
  type HealthSettings,
  pageOf,
  put,
  requireNumber,
  type TargetGroup,
  type World,
} from './world.ts';
import { tagsXml, type Xml } from './xml.ts';

const defaultAttributes = {
  'deregistration_delay.timeout_seconds': '300',
  'proxy_protocol_v2.enabled': 'false',
  'stickiness.enabled': 'false',
  'stickiness.type': 'source_ip',
};

function groupOf(input: Fields, groups: ReadonlyMap<string, TargetGroup>): TargetGroup {
  const found = groups.get(textOf(input, 'TargetGroupArn') ?? '');
  if (found !== undefined) return found;
  throw new AwsError('TargetGroupNotFound', 'One or more target groups not found');
}

function change(world: World, before: TargetGroup, parts: Partial<TargetGroup>): void {
  const after = { ...before, ...parts };
  world.change((account) => ({
    ...account,
    targetGroups: put(account.targetGroups, after.arn, after),
  }));
}

function readHealth(input: Fields, before: HealthSettings): HealthSettings {
  const read = (name: string, usual: number, range: readonly [number, number]): number =>
    requireNumber(name, numberOf(input, name) ?? usual, range);
  const health = {
    protocol: textOf(input, 'HealthCheckProtocol') ?? before.protocol,
    port: textOf(input, 'HealthCheckPort') ?? before.port,
    path: textOf(input, 'HealthCheckPath') ?? before.path,
    interval: read('HealthCheckIntervalSeconds', before.interval, [5, 300]),
    timeout: read('HealthCheckTimeoutSeconds', before.timeout, [2, 120]),
    healthy: read('HealthyThresholdCount', before.healthy, [2, 10]),
    unhealthy: read('UnhealthyThresholdCount', before.unhealthy, [2, 10]),
  };
  if (health.timeout > health.interval) {
    throw new AwsError('ValidationError', 'Health check timeout must not exceed the interval');
  }
  return health;
}

const defaultHealth: HealthSettings = {
  ...{ protocol: 'TCP', port: 'traffic-port', path: '' },
  ...{ interval: 30, timeout: 10, healthy: 5, unhealthy: 2 },
};

function createTargetGroup(input: Fields, world: World): Xml {
  const name = textOf(input, 'Name') ?? '';
  if (!balancerNamePattern.test(name)) {
    throw new AwsError('ValidationError', `Target group name '${name}' is invalid`);
  }
  const protocol = textOf(input, 'Protocol') ?? '';
  if (!['TCP', 'UDP', 'TLS'].includes(protocol)) {
    throw new AwsError('ValidationError', `Protocol '${protocol}' is not for network balancers`);
  }
  const made: TargetGroup = {
    arn: `arn:aws:elasticloadbalancing:test-1:000000000000:targetgroup/${name}/${world.nextId()}`,
    name,
    vpcId: textOf(input, 'VpcId') ?? '',
    port: requireNumber('Port', numberOf(input, 'Port'), [1, 65535]),
    protocol,
    health: readHealth(input, defaultHealth),
    targets: {},
    attributes: defaultAttributes,
    tags: tagsIn(input, 'Tags'),
  };
  const before = [...world.now().targetGroups.values()].find((one) => one.name === name);
  if (before !== undefined) {
    const settings = ({ vpcId, port, protocol: own, health }: TargetGroup) =>
      JSON.stringify([vpcId, port, own, health]);
    if (settings(before) === settings(made)) return { TargetGroups: [groupXml(before, world)] };
    throw new AwsError('DuplicateTargetGroupName', `'${name}' exists with other settings`);
  }
  change(world, made, {});
  return { TargetGroups: [groupXml(made, world)] };
}

function groupXml(group: TargetGroup, world: World): Xml {
  const users = [...world.shown().listeners.values()]
    .filter(({ targetGroupArn }) => targetGroupArn === group.arn)
    .map(({ balancerArn }) => balancerArn);
  const isHttp = group.health.protocol.startsWith('HTTP');
  return {
    TargetGroupArn: group.arn,
    TargetGroupName: group.name,
    Protocol: group.protocol,
    Port: group.port,
    VpcId: group.vpcId,
    TargetType: 'instance',
    HealthCheckEnabled: true,
    HealthCheckProtocol: group.health.protocol,
    HealthCheckPort: group.health.port,
    HealthCheckPath: isHttp ? group.health.path : undefined,
    HealthCheckIntervalSeconds: group.health.interval,
    HealthCheckTimeoutSeconds: group.health.timeout,
    HealthyThresholdCount: group.health.healthy,
    UnhealthyThresholdCount: group.health.unhealthy,
    LoadBalancerArns: [...new Set(users)],
  };
}

function describeTargetGroups(input: Fields, world: World): Xml {
  const { targetGroups, listeners, network } = world.shown();
  const names = textsOf(input, 'Names');
  const balancer = textOf(input, 'LoadBalancerArn');
  const all = [...targetGroups.values()];
  const missing = names.find((name) => !all.some((one) => one.name === name));
  if (missing !== undefined) {
    throw new AwsError('TargetGroupNotFound', `Target groups '[${missing}]' not found`);
  }
  if (balancer !== undefined && !network.has(balancer)) {
    throw new AwsError('LoadBalancerNotFound', `Load balancer '${balancer}' not found`);
  }
  const used = new Set(
    [...listeners.values()]
      .filter(({ balancerArn }) => balancerArn === balancer)
      .map(({ targetGroupArn }) => targetGroupArn),
  );
  const found = all.filter(
    ({ name, arn }) =>
      (names.length === 0 || names.includes(name)) && (balancer === undefined || used.has(arn)),
  );
  const { page, next } = pageOf(found, world.limits.pageSize, textOf(input, 'Marker'));
  return { TargetGroups: page.map((one) => groupXml(one, world)), NextMarker: next };
}

function setTargets(input: Fields, world: World, state: 'healthy' | 'draining'): Xml {
  const group = groupOf(input, world.now().targetGroups);
  const ids = recordsOf(input, 'Targets').map((one) => textOf(one, 'Id') ?? '');
  const wrong = ids.find((id) => world.now().instances.get(id)?.state !== 'running');
  if (state === 'healthy' && wrong !== undefined) {
    throw new AwsError('InvalidTarget', `The instance '${wrong}' is not running or not there`);
  }
  const unknown = ids.find((id) => group.targets[id] === undefined);
  if (state === 'draining' && unknown !== undefined) {
    throw new AwsError('InvalidTarget', `The target '${unknown}' is not registered`);
  }
  const changed = Object.fromEntries(ids.map((id) => [id, state]));
  change(world, group, { targets: { ...group.targets, ...changed } });
  return {};
}

function modifyAttributes(input: Fields, world: World): Xml {
  const group = groupOf(input, world.now().targetGroups);
  const wanted = tagsIn(input, 'Attributes');
  const wrong = Object.keys(wanted).find((key) => !(key in defaultAttributes));
  if (wrong !== undefined) {
    throw new AwsError('InvalidConfigurationRequest', `Attribute '${wrong}' is not recognized`);
  }
  change(world, group, { attributes: { ...group.attributes, ...wanted } });
  return {};
}

function deleteTargetGroup(input: Fields, world: World): Xml {
  const arn = textOf(input, 'TargetGroupArn') ?? '';
  // A listener that has just gone holds it a little longer.
  const listeners = [...world.now().listeners.values(), ...world.shown().listeners.values()];
  if (listeners.some(({ targetGroupArn }) => targetGroupArn === arn)) {
    throw new AwsError('ResourceInUse', `Target group '${arn}' is in use by a listener`);
  }
  world.change((account) => ({ ...account, targetGroups: drop(account.targetGroups, arn) }));
  return {};
}

export const targetGroupActions: Readonly<Record<string, Action>> = {
  CreateTargetGroup: createTargetGroup,
  DescribeTargetGroups: describeTargetGroups,
  ModifyTargetGroup: (input, world) => {
    const group = groupOf(input, world.now().targetGroups);
    change(world, group, { health: readHealth(input, group.health) });
    return {};
  },
  DeleteTargetGroup: deleteTargetGroup,
  DescribeTargetGroupAttributes: (input, world) => ({
    Attributes: tagsXml(groupOf(input, world.shown().targetGroups).attributes),
  }),
  ModifyTargetGroupAttributes: modifyAttributes,
  DescribeTargetHealth: (input, world) => {
    const { targets, port } = groupOf(input, world.shown().targetGroups);
    return {
      TargetHealthDescriptions: Object.entries(targets).map(([Id, State]) => ({
        Target: { Id, Port: port },
        TargetHealth: { State },
      })),
    };
  },
  RegisterTargets: (input, world) => setTargets(input, world, 'healthy'),
  DeregisterTargets: (input, world) => setTargets(input, world, 'draining'),
};
