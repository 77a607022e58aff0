// Elastic Load Balancing version 2 (2015-12-01): network balancers and listeners.
import type { Action } from './classic.ts';
import { readSubnets } from './classic-input.ts';
import { type Fields, numberOf, recordsOf, tagsIn, textOf, textsOf } from './query.ts';
import { targetGroupActions } from './target-groups.ts';
import {
  AwsError,
  balancerNamePattern,
  drop,
  knownSslPolicies,
  type NetworkBalancer,
  type NetworkListener,
  pageOf,
  put,
  requireNumber,
  type Tags,
  type World,
} from './world.ts';
import { tagsXml, type Xml } from './xml.ts';

const prefix = 'arn:aws:elasticloadbalancing:test-1:000000000000';

const defaultAttributes = {
  'load_balancing.cross_zone.enabled': 'false',
  'access_logs.s3.enabled': 'false',
  'access_logs.s3.bucket': '',
  'access_logs.s3.prefix': '',
  'deletion_protection.enabled': 'false',
};

function balancerOf(input: Fields, world: World): NetworkBalancer {
  const found = world.now().network.get(textOf(input, 'LoadBalancerArn') ?? '');
  if (found !== undefined) return found;
  throw new AwsError('LoadBalancerNotFound', 'One or more load balancers not found');
}

function change(world: World, before: NetworkBalancer, parts: Partial<NetworkBalancer>): void {
  const after = { ...before, ...parts };
  world.change((account) => ({ ...account, network: put(account.network, after.arn, after) }));
}

const balancerXml = (balancer: NetworkBalancer, world: World): Xml => ({
  LoadBalancerArn: balancer.arn,
  LoadBalancerName: balancer.name,
  DNSName: balancer.hostname,
  Scheme: balancer.scheme,
  VpcId: balancer.vpcId,
  Type: 'network',
  State: { Code: 'active' },
  AvailabilityZones: balancer.subnets.map((SubnetId) => ({
    SubnetId,
    ZoneName: world.now().subnets.get(SubnetId)?.zone,
  })),
});

function createLoadBalancer(input: Fields, world: World): Xml {
  const name = textOf(input, 'Name') ?? '';
  if (!balancerNamePattern.test(name) || name.startsWith('internal-')) {
    throw new AwsError('ValidationError', `The load balancer name '${name}' is invalid`);
  }
  if (textOf(input, 'Type') !== 'network') {
    throw new AwsError('ValidationError', 'Only network balancers are emulated');
  }
  const mapped = recordsOf(input, 'SubnetMappings').map((one) => textOf(one, 'SubnetId') ?? '');
  const subnets = readSubnets([...textsOf(input, 'Subnets'), ...mapped], world);
  const scheme = textOf(input, 'Scheme') ?? 'internet-facing';
  const before = [...world.now().network.values()].find((one) => one.name === name);
  if (before !== undefined) {
    if (before.scheme === scheme && before.subnets.join() === subnets.join()) {
      return { LoadBalancers: [balancerXml(before, world)] };
    }
    throw new AwsError('DuplicateLoadBalancerName', `'${name}' exists with other settings`);
  }
  if (world.now().network.size >= world.limits.balancers) {
    throw new AwsError('TooManyLoadBalancers', 'The quota of load balancers is reached');
  }
  const id = world.nextId();
  const made: NetworkBalancer = {
    arn: `${prefix}:loadbalancer/net/${name}/${id}`,
    name,
    hostname: `${name}-${id}.elb.test-1.test`,
    scheme,
    vpcId: world.now().subnets.get(subnets[0] ?? '')?.vpcId ?? '',
    subnets,
    attributes: defaultAttributes,
    tags: tagsIn(input, 'Tags'),
  };
  change(world, made, {});
  return { LoadBalancers: [balancerXml(made, world)] };
}

function describeLoadBalancers(input: Fields, world: World): Xml {
  const names = textsOf(input, 'Names');
  const all = [...world.shown().network.values()];
  const missing = names.find((name) => !all.some((one) => one.name === name));
  if (missing !== undefined) {
    throw new AwsError('LoadBalancerNotFound', `Load balancers '[${missing}]' not found`);
  }
  const found = all.filter(({ name }) => names.length === 0 || names.includes(name));
  const { page, next } = pageOf(found, world.limits.pageSize, textOf(input, 'Marker'));
  return { LoadBalancers: page.map((one) => balancerXml(one, world)), NextMarker: next };
}

function modifyAttributes(input: Fields, world: World): Xml {
  const found = balancerOf(input, world);
  const wanted = tagsIn(input, 'Attributes');
  const wrong = Object.keys(wanted).find((key) => !(key in defaultAttributes));
  if (wrong !== undefined) {
    throw new AwsError('InvalidConfigurationRequest', `Attribute '${wrong}' is not recognized`);
  }
  const attributes = { ...found.attributes, ...wanted };
  if (
    attributes['access_logs.s3.enabled'] === 'true' &&
    attributes['access_logs.s3.bucket'] === ''
  ) {
    throw new AwsError('InvalidConfigurationRequest', 'Access logs need a bucket');
  }
  change(world, found, { attributes });
  return {};
}

const listenerXml = (listener: NetworkListener): Xml => ({
  ListenerArn: listener.arn,
  LoadBalancerArn: listener.balancerArn,
  Port: listener.port,
  Protocol: listener.protocol,
  DefaultActions: [{ Type: 'forward', TargetGroupArn: listener.targetGroupArn }],
  Certificates:
    listener.certificate === undefined ? undefined : [{ CertificateArn: listener.certificate }],
  SslPolicy: listener.sslPolicy,
});

/** What a listener of a protocol may lead to. */
const compatible: Readonly<Record<string, readonly string[]>> = {
  TCP: ['TCP'],
  TLS: ['TCP', 'TLS'],
  UDP: ['UDP'],
};

type ListenerParts = Omit<NetworkListener, 'arn' | 'balancerArn' | 'tags'>;

function readListener(input: Fields, world: World, balancerArn: string): ListenerParts {
  const protocol = textOf(input, 'Protocol') ?? '';
  const [action = {}] = recordsOf(input, 'DefaultActions');
  const group = world.now().targetGroups.get(textOf(action, 'TargetGroupArn') ?? '');
  if (group === undefined) throw new AwsError('TargetGroupNotFound', 'Target group not found');
  const isElsewhere = [...world.now().listeners.values()].some(
    (one) => one.targetGroupArn === group.arn && one.balancerArn !== balancerArn,
  );
  if (isElsewhere) {
    throw new AwsError('TargetGroupAssociationLimit', 'It is used by another load balancer');
  }
  if (!compatible[protocol]?.includes(group.protocol)) {
    throw new AwsError(
      'IncompatibleProtocols',
      `A ${protocol} listener can not lead to a ${group.protocol} target group`,
    );
  }
  return {
    port: requireNumber('Port', numberOf(input, 'Port'), [1, 65535]),
    protocol,
    targetGroupArn: group.arn,
    ...(protocol === 'TLS' ? readTls(input, world) : {}),
  };
}

function readTls(input: Fields, world: World): Partial<NetworkListener> {
  const certificate = textOf(recordsOf(input, 'Certificates')[0] ?? {}, 'CertificateArn') ?? '';
  if (!world.now().certificates.includes(certificate)) {
    throw new AwsError('CertificateNotFound', `Certificate '${certificate}' not found`);
  }
  const sslPolicy = textOf(input, 'SslPolicy') ?? knownSslPolicies[0] ?? '';
  if (!knownSslPolicies.includes(sslPolicy)) {
    throw new AwsError('SSLPolicyNotFound', `SSL policy '${sslPolicy}' not found`);
  }
  return { certificate, sslPolicy };
}

function storeListener(world: World, listener: NetworkListener): Xml {
  const twin = [...world.now().listeners.values()].find(
    ({ balancerArn, port }) => balancerArn === listener.balancerArn && port === listener.port,
  );
  if (twin !== undefined && twin.arn !== listener.arn) {
    throw new AwsError('DuplicateListener', 'A listener already exists on this port');
  }
  world.change((account) => ({
    ...account,
    listeners: put(account.listeners, listener.arn, listener),
  }));
  return { Listeners: [listenerXml(listener)] };
}

function createListener(input: Fields, world: World): Xml {
  const { arn: balancerArn, name } = balancerOf(input, world);
  const arn = `${prefix}:listener/net/${name}/${world.nextId()}`;
  const tags = tagsIn(input, 'Tags');
  return storeListener(world, {
    ...readListener(input, world, balancerArn),
    arn,
    balancerArn,
    tags,
  });
}

function modifyListener(input: Fields, world: World): Xml {
  const found = world.now().listeners.get(textOf(input, 'ListenerArn') ?? '');
  if (found === undefined) throw new AwsError('ListenerNotFound', 'Listener not found');
  const { arn, balancerArn, tags } = found;
  return storeListener(world, {
    ...readListener(input, world, balancerArn),
    arn,
    balancerArn,
    tags,
  });
}

function describeListeners(input: Fields, world: World): Xml {
  const arn = textOf(input, 'LoadBalancerArn') ?? '';
  if (!world.shown().network.has(arn)) {
    throw new AwsError('LoadBalancerNotFound', 'Load balancer not found');
  }
  const all = [...world.shown().listeners.values()].filter((one) => one.balancerArn === arn);
  const { page, next } = pageOf(all, world.limits.pageSize, textOf(input, 'Marker'));
  return { Listeners: page.map(listenerXml), NextMarker: next };
}

function describeTags(input: Fields, world: World): Xml {
  const arns = textsOf(input, 'ResourceArns');
  if (arns.length > 20) throw new AwsError('ValidationError', 'No more than 20 resources');
  const { network, listeners, targetGroups } = world.shown();
  return {
    TagDescriptions: arns.map((ResourceArn) => {
      const found =
        network.get(ResourceArn) ?? listeners.get(ResourceArn) ?? targetGroups.get(ResourceArn);
      if (found !== undefined) return { ResourceArn, Tags: tagsXml(found.tags) };
      throw new AwsError(notFoundCode(ResourceArn), `'${ResourceArn}' not found`);
    }),
  };
}

function notFoundCode(arn: string): string {
  if (arn.includes(':listener/')) return 'ListenerNotFound';
  return arn.includes(':targetgroup/') ? 'TargetGroupNotFound' : 'LoadBalancerNotFound';
}

function addTags(input: Fields, world: World): Xml {
  const tags = tagsIn(input, 'Tags');
  for (const arn of textsOf(input, 'ResourceArns')) {
    const { network, listeners, targetGroups } = world.now();
    if (!network.has(arn) && !listeners.has(arn) && !targetGroups.has(arn)) {
      throw new AwsError(notFoundCode(arn), `'${arn}' not found`);
    }
    world.change((account) => ({
      ...account,
      network: withTags(account.network, arn, tags),
      listeners: withTags(account.listeners, arn, tags),
      targetGroups: withTags(account.targetGroups, arn, tags),
    }));
  }
  return {};
}

function withTags<T extends { readonly tags: Tags }>(
  resources: ReadonlyMap<string, T>,
  arn: string,
  tags: Tags,
): ReadonlyMap<string, T> {
  const resource = resources.get(arn);
  if (resource === undefined) return resources;
  return put(resources, arn, { ...resource, tags: { ...resource.tags, ...tags } });
}

export const networkActions: Readonly<Record<string, Action>> = {
  ...targetGroupActions,
  CreateLoadBalancer: createLoadBalancer,
  DescribeLoadBalancers: describeLoadBalancers,
  DescribeLoadBalancerAttributes: (input, world) => {
    const found = world.shown().network.get(textOf(input, 'LoadBalancerArn') ?? '');
    if (found === undefined) throw new AwsError('LoadBalancerNotFound', 'Not found');
    return { Attributes: tagsXml(found.attributes) };
  },
  ModifyLoadBalancerAttributes: modifyAttributes,
  SetSubnets: (input, world) => {
    change(world, balancerOf(input, world), {
      subnets: readSubnets(textsOf(input, 'Subnets'), world),
    });
    return {};
  },
  // Its listeners go with it, and what is not there is deleted already.
  DeleteLoadBalancer: (input, world) => {
    const arn = textOf(input, 'LoadBalancerArn') ?? '';
    world.change((account) => ({
      ...account,
      network: drop(account.network, arn),
      listeners: new Map([...account.listeners].filter(([, one]) => one.balancerArn !== arn)),
    }));
    return {};
  },
  CreateListener: createListener,
  ModifyListener: modifyListener,
  DescribeListeners: describeListeners,
  DeleteListener: (input, world) => {
    const arn = textOf(input, 'ListenerArn') ?? '';
    if (!world.now().listeners.has(arn)) throw new AwsError('ListenerNotFound', 'Not found');
    world.change((account) => ({ ...account, listeners: drop(account.listeners, arn) }));
    return {};
  },
  DescribeTags: describeTags,
  AddTags: addTags,
};
