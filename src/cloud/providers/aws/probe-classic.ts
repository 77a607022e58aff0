// A classic balancer as it stands.
import type {
  LoadBalancerAttributes,
  LoadBalancerDescription,
} from '@aws-sdk/client-elastic-load-balancing';
import type { AwsCalls } from './apply-sdk.ts';
import type { ClassicAttributes, ClassicFound, ClassicProtocol } from './balancer.ts';
import { isGone } from './errors.ts';
import type { Tags } from './names.ts';
import { readTags } from './probe-surroundings.ts';

export async function probeClassic(aws: AwsCalls, name: string): Promise<ClassicFound | undefined> {
  try {
    const { LoadBalancerDescriptions = [] } = await aws.classicDescribeLoadBalancers({
      LoadBalancerNames: [name],
    });
    const [description] = LoadBalancerDescriptions;
    if (description === undefined) return undefined;
    const [{ TagDescriptions = [] }, { LoadBalancerAttributes = {} }] = await Promise.all([
      aws.classicDescribeTags({ LoadBalancerNames: [name] }),
      aws.classicDescribeLoadBalancerAttributes({ LoadBalancerName: name }),
    ]);
    return readBalancer(description, readTags(TagDescriptions[0]?.Tags), LoadBalancerAttributes);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function readBalancer(
  found: LoadBalancerDescription,
  tags: Tags,
  attributes: Partial<LoadBalancerAttributes>,
): ClassicFound {
  const backends = found.BackendServerDescriptions ?? [];
  return {
    tags,
    hostname: found.DNSName ?? '',
    isInternal: found.Scheme === 'internal',
    subnetIds: found.Subnets ?? [],
    groupIds: found.SecurityGroups ?? [],
    instanceIds: (found.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []),
    policies: found.Policies?.OtherPolicies ?? [],
    backendPolicies: new Map(
      backends.map(({ InstancePort = 0, PolicyNames = [] }) => [InstancePort, PolicyNames]),
    ),
    listeners: (found.ListenerDescriptions ?? []).map(readListener),
    healthTarget: found.HealthCheck?.Target ?? '',
    healthCheck: {
      healthyThreshold: found.HealthCheck?.HealthyThreshold ?? 0,
      unhealthyThreshold: found.HealthCheck?.UnhealthyThreshold ?? 0,
      intervalSeconds: found.HealthCheck?.Interval ?? 0,
      timeoutSeconds: found.HealthCheck?.Timeout ?? 0,
    },
    attributes: readAttributes(attributes),
  };
}

type ListenerDescription = NonNullable<LoadBalancerDescription['ListenerDescriptions']>[number];

function readListener({ Listener, PolicyNames = [] }: ListenerDescription) {
  const protocol = readProtocol(Listener?.Protocol);
  const certificate = Listener?.SSLCertificateId;
  return {
    port: Listener?.LoadBalancerPort ?? 0,
    protocol,
    instancePort: Listener?.InstancePort ?? 0,
    instanceProtocol: readProtocol(Listener?.InstanceProtocol ?? Listener?.Protocol),
    policies: PolicyNames,
    ...(certificate === undefined ? {} : { certificate }),
  };
}

function readProtocol(text = ''): ClassicProtocol {
  const known: readonly ClassicProtocol[] = ['TCP', 'SSL', 'HTTP', 'HTTPS'];
  return known.find((protocol) => protocol === text.toUpperCase()) ?? 'TCP';
}

function readAttributes(found: Partial<LoadBalancerAttributes>): ClassicAttributes {
  const { AccessLog, ConnectionDraining, ConnectionSettings, CrossZoneLoadBalancing } = found;
  return {
    accessLog:
      AccessLog?.Enabled === true
        ? {
            isEnabled: true,
            bucket: AccessLog.S3BucketName ?? '',
            prefix: AccessLog.S3BucketPrefix ?? '',
            intervalMinutes: AccessLog.EmitInterval ?? 60,
          }
        : { isEnabled: false },
    ...(ConnectionDraining?.Enabled === true
      ? { drainingSeconds: ConnectionDraining.Timeout ?? 0 }
      : {}),
    idleSeconds: ConnectionSettings?.IdleTimeout ?? 0,
    isCrossZone: CrossZoneLoadBalancing?.Enabled === true,
  };
}
