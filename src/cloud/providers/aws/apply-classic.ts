// Changes of classic balancers, as calls.
import type { Listener, LoadBalancerAttributes } from '@aws-sdk/client-elastic-load-balancing';
import { tagList } from './apply-groups.ts';
import type { AwsCalls } from './apply-sdk.ts';
import type { ClassicAttributes, ClassicListener } from './balancer.ts';
import type { ClassicChange } from './changes.ts';

type ChangeOf<K extends ClassicChange['kind']> = Extract<ClassicChange, { readonly kind: K }>;

const calls: { readonly [K in ClassicChange['kind']]: Call<K> } = {
  createClassic: (aws, LoadBalancerName, { wanted, groupIds, tags }) =>
    aws.classicCreateLoadBalancer({
      LoadBalancerName,
      Listeners: wanted.listeners.map(listenerOf),
      Subnets: [...wanted.subnetIds],
      SecurityGroups: [...groupIds],
      Tags: tagList(tags),
      ...(wanted.isInternal ? { Scheme: 'internal' } : {}),
    }),
  deleteClassic: (aws, LoadBalancerName) => aws.classicDeleteLoadBalancer({ LoadBalancerName }),
  tagClassic: (aws, name, { tags }) =>
    aws.classicAddTags({ LoadBalancerNames: [name], Tags: tagList(tags) }),
  attachSubnets: (aws, LoadBalancerName, { subnetIds }) =>
    aws.attachLoadBalancerToSubnets({ LoadBalancerName, Subnets: [...subnetIds] }),
  detachSubnets: (aws, LoadBalancerName, { subnetIds }) =>
    aws.detachLoadBalancerFromSubnets({ LoadBalancerName, Subnets: [...subnetIds] }),
  setGroups: (aws, LoadBalancerName, { groupIds }) =>
    aws.applySecurityGroupsToLoadBalancer({ LoadBalancerName, SecurityGroups: [...groupIds] }),
  deleteListeners: (aws, LoadBalancerName, { ports }) =>
    aws.deleteLoadBalancerListeners({ LoadBalancerName, LoadBalancerPorts: [...ports] }),
  createListeners: (aws, LoadBalancerName, { listeners }) =>
    aws.createLoadBalancerListeners({ LoadBalancerName, Listeners: listeners.map(listenerOf) }),
  setCertificate: (aws, LoadBalancerName, { port, certificate }) =>
    aws.setLoadBalancerListenerSSLCertificate({
      LoadBalancerName,
      LoadBalancerPort: port,
      SSLCertificateId: certificate,
    }),
  createPolicy: (aws, LoadBalancerName, { policy }) =>
    aws.createLoadBalancerPolicy({
      LoadBalancerName,
      PolicyName: policy.name,
      PolicyTypeName: policy.type,
      PolicyAttributes: [{ AttributeName: policy.attribute, AttributeValue: policy.value }],
    }),
  setListenerPolicies: (aws, LoadBalancerName, { port, policies }) =>
    aws.setLoadBalancerPoliciesOfListener({
      LoadBalancerName,
      LoadBalancerPort: port,
      PolicyNames: [...policies],
    }),
  setBackendPolicies: (aws, LoadBalancerName, { instancePort, policies }) =>
    aws.setLoadBalancerPoliciesForBackendServer({
      LoadBalancerName,
      InstancePort: instancePort,
      PolicyNames: [...policies],
    }),
  checkHealth: (aws, LoadBalancerName, { target, times }) =>
    aws.configureHealthCheck({
      LoadBalancerName,
      HealthCheck: {
        Target: target,
        HealthyThreshold: times.healthyThreshold,
        UnhealthyThreshold: times.unhealthyThreshold,
        Interval: times.intervalSeconds,
        Timeout: times.timeoutSeconds,
      },
    }),
  setClassicAttributes: (aws, LoadBalancerName, { attributes }) =>
    aws.classicModifyLoadBalancerAttributes({
      LoadBalancerName,
      LoadBalancerAttributes: attributesOf(attributes),
    }),
  register: (aws, LoadBalancerName, { instanceIds }) =>
    aws.registerInstancesWithLoadBalancer({ LoadBalancerName, Instances: idsOf(instanceIds) }),
  deregister: (aws, LoadBalancerName, { instanceIds }) =>
    aws.deregisterInstancesFromLoadBalancer({ LoadBalancerName, Instances: idsOf(instanceIds) }),
};

type Call<K extends ClassicChange['kind']> = (
  aws: AwsCalls,
  name: string,
  change: ChangeOf<K>,
) => Promise<unknown>;

export const isClassicChange = (change: { readonly kind: string }): change is ClassicChange =>
  Object.hasOwn(calls, change.kind);

export async function applyClassicChange<K extends ClassicChange['kind']>(
  aws: AwsCalls,
  change: ClassicChange & { readonly kind: K },
): Promise<void> {
  const call: Call<K> = calls[change.kind];
  await call(aws, change.name, change as ChangeOf<K>);
}

const idsOf = (ids: readonly string[]) => ids.map((InstanceId) => ({ InstanceId }));

function listenerOf(listener: ClassicListener): Listener {
  const { port, protocol, instancePort, instanceProtocol, certificate } = listener;
  return {
    LoadBalancerPort: port,
    Protocol: protocol,
    InstancePort: instancePort,
    InstanceProtocol: instanceProtocol,
    ...(certificate === undefined ? {} : { SSLCertificateId: certificate }),
  };
}

function attributesOf(attributes: ClassicAttributes): LoadBalancerAttributes {
  const { accessLog, drainingSeconds, idleSeconds, isCrossZone } = attributes;
  return {
    CrossZoneLoadBalancing: { Enabled: isCrossZone },
    ConnectionSettings: { IdleTimeout: idleSeconds },
    ConnectionDraining:
      drainingSeconds === undefined
        ? { Enabled: false }
        : { Enabled: true, Timeout: drainingSeconds },
    AccessLog: accessLog.isEnabled
      ? {
          Enabled: true,
          S3BucketName: accessLog.bucket,
          S3BucketPrefix: accessLog.prefix,
          EmitInterval: accessLog.intervalMinutes,
        }
      : { Enabled: false },
  };
}
