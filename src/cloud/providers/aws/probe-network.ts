// A network balancer, its listeners and its target groups as they stand.
import type { Listener, TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { AwsCalls } from './apply-sdk.ts';
import type { NetworkFound, NetworkProtocol, TargetGroupFound } from './balancer.ts';
import { isGone } from './errors.ts';
import { hasTags, type Tags } from './names.ts';
import { chunks, collectPages } from './pages.ts';
import { readTags } from './probe-surroundings.ts';

export async function probeNetwork(aws: AwsCalls, name: string): Promise<NetworkFound | undefined> {
  return unlessGone(async () => {
    const { LoadBalancers = [] } = await aws.networkDescribeLoadBalancers({ Names: [name] });
    const [found] = LoadBalancers;
    if (found?.LoadBalancerArn === undefined) return undefined;
    const arn = found.LoadBalancerArn;
    const [listeners, { Attributes }] = await Promise.all([
      probeListeners(aws, arn),
      aws.networkDescribeLoadBalancerAttributes({ LoadBalancerArn: arn }),
    ]);
    const listenerArns = listeners.flatMap(({ ListenerArn }) => ListenerArn ?? []);
    const tags = await probeTags(aws, [arn, ...listenerArns]);
    return {
      arn,
      tags: tags.get(arn) ?? {},
      hostname: found.DNSName ?? '',
      isInternal: found.Scheme === 'internal',
      subnetIds: (found.AvailabilityZones ?? []).flatMap(({ SubnetId }) => SubnetId ?? []),
      listeners: listeners.map((listener) =>
        readListener(listener, tags.get(listener.ListenerArn ?? '') ?? {}),
      ),
      attributes: readTags(Attributes),
    };
  });
}

async function unlessGone<T>(act: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function probeListeners(aws: AwsCalls, arn: string): Promise<readonly Listener[]> {
  return collectPages(async (Marker) => {
    const page = Marker === undefined ? {} : { Marker };
    const { Listeners, NextMarker } = await aws.describeListeners({
      LoadBalancerArn: arn,
      ...page,
    });
    return { items: Listeners, next: NextMarker };
  });
}

function readListener(listener: Listener, tags: Tags): NetworkFound['listeners'][number] {
  const { ListenerArn, Port, Protocol, Certificates, SslPolicy, DefaultActions } = listener;
  const certificate = Certificates?.[0]?.CertificateArn;
  return {
    arn: ListenerArn ?? '',
    tags,
    port: Port ?? 0,
    protocol: readProtocol(Protocol),
    targetGroupArn: DefaultActions?.[0]?.TargetGroupArn ?? '',
    ...(certificate === undefined ? {} : { certificate }),
    ...(SslPolicy === undefined ? {} : { sslPolicy: SslPolicy }),
  };
}

function readProtocol(text: string | undefined): NetworkProtocol {
  return text === 'UDP' || text === 'TLS' ? text : 'TCP';
}

export type TargetGroupQuery = {
  /** Of the balancer, if it is there. */
  readonly balancerArn?: string;
  readonly names: readonly string[];
  /** Those that make one ours. */
  readonly tags: Tags;
};

export async function probeTargetGroups(
  aws: AwsCalls,
  query: TargetGroupQuery,
): Promise<readonly TargetGroupFound[]> {
  const groups = await listTargetGroups(aws, query);
  const tags = await probeTags(aws, [...groups.keys()]);
  const ours = [...groups].filter(([arn]) => hasTags(tags.get(arn) ?? {}, query.tags));
  const found = await Promise.all(
    ours.map(([arn, group]) =>
      unlessGone(() => readTargetGroup(aws, { ...group, arn, tags: tags.get(arn) ?? {} })),
    ),
  );
  return found.filter((group) => group !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function listTargetGroups(
  aws: AwsCalls,
  { balancerArn, names }: TargetGroupQuery,
): Promise<ReadonlyMap<string, TargetGroup>> {
  const tied =
    balancerArn === undefined
      ? []
      : ((await unlessGone(() => list(aws, { LoadBalancerArn: balancerArn }))) ?? []);
  const known = new Set(tied.map(({ TargetGroupName }) => TargetGroupName));
  // One by one: a single name that is not there makes the whole question fail.
  const loose = await Promise.all(
    names
      .filter((name) => !known.has(name))
      .map(async (name) => (await unlessGone(() => list(aws, { Names: [name] }))) ?? []),
  );
  return new Map([...tied, ...loose.flat()].map((group) => [group.TargetGroupArn ?? '', group]));
}

function list(
  aws: AwsCalls,
  query: { readonly LoadBalancerArn?: string; readonly Names?: string[] },
): Promise<readonly TargetGroup[]> {
  return collectPages(async (Marker) => {
    const page = Marker === undefined ? {} : { Marker };
    const { TargetGroups, NextMarker } = await aws.describeTargetGroups({ ...query, ...page });
    return { items: TargetGroups, next: NextMarker };
  });
}

/** Of all target groups there are: what a run that broke off has made may be tied to nothing. */
export async function probeTargetGroupNames(aws: AwsCalls): Promise<readonly string[]> {
  return (await list(aws, {})).flatMap(({ TargetGroupName }) => TargetGroupName ?? []);
}

type GroupBefore = TargetGroup & { readonly arn: string; readonly tags: Tags };

async function readTargetGroup(aws: AwsCalls, group: GroupBefore): Promise<TargetGroupFound> {
  const { arn, tags } = group;
  const [{ Attributes }, { TargetHealthDescriptions = [] }] = await Promise.all([
    aws.describeTargetGroupAttributes({ TargetGroupArn: arn }),
    aws.describeTargetHealth({ TargetGroupArn: arn }),
  ]);
  const staying = TargetHealthDescriptions.filter(
    ({ TargetHealth }) => TargetHealth?.State !== 'draining',
  );
  return {
    arn,
    tags,
    name: group.TargetGroupName ?? '',
    protocol: readProtocol(group.Protocol),
    port: group.Port ?? 0,
    healthPort: Number(group.HealthCheckPort ?? 0),
    healthPath: group.HealthCheckPath ?? '',
    healthCheck: {
      healthyThreshold: group.HealthyThresholdCount ?? 0,
      unhealthyThreshold: group.UnhealthyThresholdCount ?? 0,
      intervalSeconds: group.HealthCheckIntervalSeconds ?? 0,
      timeoutSeconds: group.HealthCheckTimeoutSeconds ?? 0,
    },
    attributes: readTags(Attributes),
    instanceIds: staying.flatMap(({ Target }) => Target?.Id ?? []),
  };
}

/** AWS tells the tags of no more things at once. */
const maxTagged = 20;

async function probeTags(
  aws: AwsCalls,
  arns: readonly string[],
): Promise<ReadonlyMap<string, Tags>> {
  const tags = new Map<string, Tags>();
  for (const some of chunks(arns, maxTagged)) {
    // One that has just gone makes the whole question fail: then each is asked for alone.
    const answers = await unlessGone(() => describeTags(aws, some));
    const single = async (arn: string) => (await unlessGone(() => describeTags(aws, [arn]))) ?? [];
    for (const [arn, found] of answers ?? (await Promise.all(some.map(single))).flat()) {
      tags.set(arn, found);
    }
  }
  return tags;
}

async function describeTags(
  aws: AwsCalls,
  arns: readonly string[],
): Promise<readonly (readonly [string, Tags])[]> {
  const { TagDescriptions = [] } = await aws.networkDescribeTags({ ResourceArns: [...arns] });
  return TagDescriptions.map(({ ResourceArn = '', Tags: tags }) => [ResourceArn, readTags(tags)]);
}
