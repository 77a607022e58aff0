// Classic Elastic Load Balancing, version 2012-06-01.
import { readListeners, readSubnets } from './classic-input.ts';
import { classicXml } from './classic-xml.ts';
import { type Fields, fieldsOf, numberOf, recordsOf, tagsIn, textOf, textsOf } from './query.ts';
import {
  AwsError,
  balancerNamePattern,
  type ClassicBalancer,
  drop,
  knownSslPolicies,
  put,
  requireNumber,
  type World,
} from './world.ts';
import { tagsXml, type Xml } from './xml.ts';

export type Action = (input: Fields, world: World) => Xml;

function balancerOf(input: Fields, world: World, name = textOf(input, 'LoadBalancerName')) {
  const found = world.now().classic.get(name ?? '');
  if (found !== undefined) return found;
  throw new AwsError('LoadBalancerNotFound', `There is no ACTIVE Load Balancer named '${name}'`);
}

function change(world: World, before: ClassicBalancer, parts: Partial<ClassicBalancer>): void {
  const after = { ...before, ...parts };
  world.change((account) => ({ ...account, classic: put(account.classic, after.name, after) }));
}

function checkGroups(ids: readonly string[], world: World): readonly string[] {
  const wrong = ids.find((id) => !world.now().groups.has(id));
  if (wrong !== undefined) throw new AwsError('InvalidSecurityGroup', `No group ${wrong}`);
  if (ids.length > 5) throw new AwsError('InvalidSecurityGroup', 'More than 5 groups');
  return ids;
}

function createLoadBalancer(input: Fields, world: World): Xml {
  const name = textOf(input, 'LoadBalancerName') ?? '';
  if (!balancerNamePattern.test(name)) {
    throw new AwsError('ValidationError', `Invalid name '${name}'`);
  }
  const scheme = textOf(input, 'Scheme') ?? 'internet-facing';
  if (scheme !== 'internal' && scheme !== 'internet-facing') {
    throw new AwsError('InvalidScheme', `Unknown scheme ${scheme}`);
  }
  const listeners = readListeners(input, world);
  const [first] = listeners;
  if (first === undefined) throw new AwsError('ValidationError', 'Listeners is required');
  const before = world.now().classic.get(name);
  const made: ClassicBalancer = {
    name,
    hostname: `${scheme === 'internal' ? 'internal-' : ''}${name}-${world.nextId()}.elb.test`,
    scheme,
    subnets: readSubnets(textsOf(input, 'Subnets'), world),
    groups: checkGroups(textsOf(input, 'SecurityGroups'), world),
    listeners,
    instances: [],
    policies: policiesOf(listeners),
    backendPolicies: {},
    healthCheck: {
      Target: `TCP:${first.instancePort}`,
      ...{ Interval: 30, Timeout: 5, HealthyThreshold: 10, UnhealthyThreshold: 2 },
    },
    attributes: {
      idleTimeout: 60,
      crossZone: false,
      draining: { enabled: false, timeout: 300 },
      accessLog: { enabled: false, interval: 60 },
    },
    tags: tagsIn(input, 'Tags'),
  };
  if (before !== undefined) {
    const settings = ({ scheme, subnets, groups, listeners: all }: ClassicBalancer) =>
      JSON.stringify([scheme, subnets, groups, all]);
    if (settings(before) === settings(made)) return { DNSName: before.hostname };
    throw new AwsError('DuplicateLoadBalancerName', `${name} exists with other settings`);
  }
  if (world.now().classic.size >= world.limits.balancers) {
    throw new AwsError('TooManyLoadBalancers', 'The quota of load balancers is reached');
  }
  change(world, made, {});
  return { DNSName: made.hostname };
}

const policiesOf = (listeners: ClassicBalancer['listeners']): Record<string, string> =>
  Object.fromEntries(
    listeners.flatMap(({ policies }) => policies.map((name) => [name, 'SSLNegotiationPolicyType'])),
  );

function createListeners(input: Fields, world: World): Xml {
  const found = balancerOf(input, world);
  const listeners = readListeners(input, world);
  for (const listener of listeners) {
    const there = found.listeners.find(({ port }) => port === listener.port);
    if (there === undefined || JSON.stringify(there) === JSON.stringify(listener)) continue;
    throw new AwsError('DuplicateListener', `A listener exists for port ${listener.port}`);
  }
  const ports = new Set(listeners.map(({ port }) => port));
  const kept = found.listeners.filter(({ port }) => !ports.has(port));
  change(world, found, {
    listeners: [...kept, ...listeners],
    policies: { ...found.policies, ...policiesOf(listeners) },
  });
  return {};
}

function describeLoadBalancers(input: Fields, world: World): Xml {
  const names = textsOf(input, 'LoadBalancerNames');
  const { classic } = world.shown();
  const missing = names.find((name) => !classic.has(name));
  if (missing !== undefined) {
    throw new AwsError('LoadBalancerNotFound', `There is no ACTIVE Load Balancer '${missing}'`);
  }
  const found = [...classic.values()].filter(
    ({ name }) => names.length === 0 || names.includes(name),
  );
  return { LoadBalancerDescriptions: found.map(classicXml) };
}

function describeAttributes(input: Fields, world: World): Xml {
  const found = world.shown().classic.get(textOf(input, 'LoadBalancerName') ?? '');
  if (found === undefined) throw new AwsError('LoadBalancerNotFound', 'No such load balancer');
  const { idleTimeout, crossZone, draining, accessLog } = found.attributes;
  return {
    LoadBalancerAttributes: {
      CrossZoneLoadBalancing: { Enabled: crossZone },
      ConnectionSettings: { IdleTimeout: idleTimeout },
      ConnectionDraining: { Enabled: draining.enabled, Timeout: draining.timeout },
      AccessLog: {
        Enabled: accessLog.enabled,
        S3BucketName: accessLog.bucket,
        S3BucketPrefix: accessLog.prefix,
        EmitInterval: accessLog.enabled ? accessLog.interval : undefined,
      },
    },
  };
}

function modifyAttributes(input: Fields, world: World): Xml {
  const found = balancerOf(input, world);
  const wanted = fieldsOf(input, 'LoadBalancerAttributes') ?? {};
  const settings = fieldsOf(wanted, 'ConnectionSettings') ?? {};
  const draining = fieldsOf(wanted, 'ConnectionDraining') ?? {};
  const timeout = numberOf(draining, 'Timeout') ?? 300;
  change(world, found, {
    attributes: {
      idleTimeout: requireNumber('IdleTimeout', numberOf(settings, 'IdleTimeout') ?? 60, [1, 4000]),
      crossZone: textOf(fieldsOf(wanted, 'CrossZoneLoadBalancing') ?? {}, 'Enabled') === 'true',
      draining: {
        enabled: textOf(draining, 'Enabled') === 'true',
        timeout: requireNumber('Timeout', timeout, [1, 3600]),
      },
      accessLog: readAccessLog(fieldsOf(wanted, 'AccessLog') ?? {}),
    },
  });
  return {};
}

function readAccessLog(log: Fields): ClassicBalancer['attributes']['accessLog'] {
  if (textOf(log, 'Enabled') !== 'true') return { enabled: false, interval: 60 };
  const interval = numberOf(log, 'EmitInterval') ?? 60;
  const bucket = textOf(log, 'S3BucketName') ?? '';
  if (bucket === '') throw new AwsError('InvalidConfigurationRequest', 'Access logs need a bucket');
  if (interval !== 5 && interval !== 60) {
    throw new AwsError('ValidationError', 'EmitInterval must be 5 or 60');
  }
  return { enabled: true, bucket, prefix: textOf(log, 'S3BucketPrefix') ?? '', interval };
}

function configureHealthCheck(input: Fields, world: World): Xml {
  const found = balancerOf(input, world);
  const check = fieldsOf(input, 'HealthCheck') ?? {};
  const target = textOf(check, 'Target') ?? '';
  if (!/^(TCP|SSL):\d+$|^HTTPS?:\d+\/.*$/.test(target)) {
    throw new AwsError('ValidationError', `HealthCheck Target '${target}' is invalid`);
  }
  const read = (name: string, range: readonly [number, number]): number =>
    requireNumber(name, numberOf(check, name), range);
  const healthCheck = {
    Target: target,
    Interval: read('Interval', [5, 300]),
    Timeout: read('Timeout', [2, 60]),
    HealthyThreshold: read('HealthyThreshold', [2, 10]),
    UnhealthyThreshold: read('UnhealthyThreshold', [2, 10]),
  };
  if (healthCheck.Timeout >= healthCheck.Interval) {
    throw new AwsError('ValidationError', 'HealthCheck timeout must be less than interval');
  }
  change(world, found, { healthCheck });
  return { HealthCheck: healthCheck };
}

function createPolicy(input: Fields, world: World): Xml {
  const found = balancerOf(input, world);
  const name = textOf(input, 'PolicyName') ?? '';
  const type = textOf(input, 'PolicyTypeName') ?? '';
  const [attribute = {}] = recordsOf(input, 'PolicyAttributes');
  if (name in found.policies) throw new AwsError('DuplicatePolicyName', `Policy ${name} exists`);
  if (type !== 'ProxyProtocolPolicyType' && type !== 'SSLNegotiationPolicyType') {
    throw new AwsError('PolicyTypeNotFound', `No policy type ${type}`);
  }
  const value = textOf(attribute, 'AttributeValue') ?? '';
  if (type === 'SSLNegotiationPolicyType' && !knownSslPolicies.includes(value)) {
    throw new AwsError('InvalidConfigurationRequest', `No predefined policy ${value}`);
  }
  change(world, found, { policies: { ...found.policies, [name]: type } });
  return {};
}

function checkPolicies(found: ClassicBalancer, names: readonly string[]): readonly string[] {
  const wrong = names.find((name) => !(name in found.policies));
  if (wrong !== undefined) throw new AwsError('PolicyNotFound', `No policy ${wrong}`);
  return names;
}

function setListener(
  input: Fields,
  world: World,
  parts: (found: ClassicBalancer) => Partial<ClassicBalancer['listeners'][number]>,
): Xml {
  const found = balancerOf(input, world);
  const port = numberOf(input, 'LoadBalancerPort');
  if (!found.listeners.some((listener) => listener.port === port)) {
    throw new AwsError('ListenerNotFound', `No listener for port ${port}`);
  }
  const changed = parts(found);
  const listeners = found.listeners.map((one) =>
    one.port === port ? { ...one, ...changed } : one,
  );
  change(world, found, { listeners });
  return {};
}

function setBackendPolicies(input: Fields, world: World): Xml {
  const found = balancerOf(input, world);
  const port = numberOf(input, 'InstancePort') ?? 0;
  const names = checkPolicies(found, textsOf(input, 'PolicyNames'));
  const isUsed = found.listeners.some(({ instancePort }) => instancePort === port);
  if (!isUsed && !(port in found.backendPolicies)) {
    throw new AwsError('InvalidConfigurationRequest', `No back end at instance port ${port}`);
  }
  const others = Object.entries(found.backendPolicies).filter(([one]) => Number(one) !== port);
  const backendPolicies = Object.fromEntries([
    ...others,
    ...(names.length === 0 ? [] : [[String(port), names] as const]),
  ]);
  change(world, found, { backendPolicies });
  return {};
}

function setInstances(input: Fields, world: World, isIn: boolean): Xml {
  const found = balancerOf(input, world);
  const ids = recordsOf(input, 'Instances').map((one) => textOf(one, 'InstanceId') ?? '');
  const wrong = ids.find((id) => !world.now().instances.has(id));
  if (isIn && wrong !== undefined) {
    throw new AwsError('InvalidInstance', `Could not find EC2 instance ${wrong}.`);
  }
  const kept = found.instances.filter((id) => !ids.includes(id));
  change(world, found, { instances: isIn ? [...kept, ...ids].sort() : kept });
  return {};
}

export const classicActions: Readonly<Record<string, Action>> = {
  CreateLoadBalancer: createLoadBalancer,
  DescribeLoadBalancers: describeLoadBalancers,
  DescribeLoadBalancerAttributes: describeAttributes,
  ModifyLoadBalancerAttributes: modifyAttributes,
  ConfigureHealthCheck: configureHealthCheck,
  CreateLoadBalancerListeners: createListeners,
  CreateLoadBalancerPolicy: createPolicy,
  SetLoadBalancerPoliciesForBackendServer: setBackendPolicies,
  SetLoadBalancerPoliciesOfListener: (input, world) =>
    setListener(input, world, (found) => ({
      policies: checkPolicies(found, textsOf(input, 'PolicyNames')),
    })),
  SetLoadBalancerListenerSSLCertificate: (input, world) => {
    const certificate = textOf(input, 'SSLCertificateId') ?? '';
    if (!world.now().certificates.includes(certificate)) {
      throw new AwsError('CertificateNotFound', `No certificate ${certificate}`);
    }
    return setListener(input, world, () => ({ certificate }));
  },
  // Deleting what is not there succeeds.
  DeleteLoadBalancer: (input, world) => {
    const name = textOf(input, 'LoadBalancerName') ?? '';
    world.change((account) => ({ ...account, classic: drop(account.classic, name) }));
    return {};
  },
  DeleteLoadBalancerListeners: (input, world) => {
    const found = balancerOf(input, world);
    const ports = textsOf(input, 'LoadBalancerPorts').map(Number);
    const listeners = found.listeners.filter(({ port }) => !ports.includes(port));
    change(world, found, { listeners });
    return {};
  },
  AttachLoadBalancerToSubnets: (input, world) => {
    const found = balancerOf(input, world);
    const all = [...new Set([...found.subnets, ...textsOf(input, 'Subnets')])];
    change(world, found, { subnets: readSubnets(all, world) });
    return {};
  },
  DetachLoadBalancerFromSubnets: (input, world) => {
    const found = balancerOf(input, world);
    const gone = textsOf(input, 'Subnets');
    change(world, found, { subnets: found.subnets.filter((id) => !gone.includes(id)) });
    return {};
  },
  ApplySecurityGroupsToLoadBalancer: (input, world) => {
    const groups = checkGroups(textsOf(input, 'SecurityGroups'), world);
    change(world, balancerOf(input, world), { groups });
    return {};
  },
  RegisterInstancesWithLoadBalancer: (input, world) => setInstances(input, world, true),
  DeregisterInstancesFromLoadBalancer: (input, world) => setInstances(input, world, false),
  AddTags: (input, world) => {
    for (const name of textsOf(input, 'LoadBalancerNames')) {
      const found = balancerOf(input, world, name);
      change(world, found, { tags: { ...found.tags, ...tagsIn(input, 'Tags') } });
    }
    return {};
  },
  DescribeTags: (input, world) => ({
    TagDescriptions: textsOf(input, 'LoadBalancerNames').map((name) => {
      const found = world.shown().classic.get(name);
      if (found === undefined) throw new AwsError('LoadBalancerNotFound', `No ${name}`);
      return { LoadBalancerName: name, Tags: tagsXml(found.tags) };
    }),
  }),
};
