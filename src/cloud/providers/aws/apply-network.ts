// Changes of network balancers, listeners and target groups, as calls.
import type { CreateListenerInput } from '@aws-sdk/client-elastic-load-balancing-v2';
import { tagList } from './apply-groups.ts';
import type { AwsCalls } from './apply-sdk.ts';
import type { NetworkListener, TargetGroupWanted } from './balancer.ts';
import type { NetworkChange } from './changes.ts';
import { chunks } from './pages.ts';

type Kind = NetworkChange['kind'];
type ChangeOf<K extends Kind> = Extract<NetworkChange, { readonly kind: K }>;
type Call<K extends Kind> = (aws: AwsCalls, change: ChangeOf<K>) => Promise<unknown>;

const calls: { readonly [K in Kind]: Call<K> } = {
  createNetwork: (aws, { name, wanted, tags }) =>
    aws.networkCreateLoadBalancer({
      Name: name,
      Type: 'network',
      Scheme: wanted.isInternal ? 'internal' : 'internet-facing',
      SubnetMappings: wanted.subnetIds.map((SubnetId) => ({ SubnetId })),
      Tags: tagList(tags),
    }),
  deleteNetwork: (aws, { arn }) => aws.networkDeleteLoadBalancer({ LoadBalancerArn: arn }),
  tagResource: (aws, { arn, tags }) =>
    aws.networkAddTags({ ResourceArns: [arn], Tags: tagList(tags) }),
  setSubnets: (aws, { arn, subnetIds }) =>
    aws.setSubnets({ LoadBalancerArn: arn, Subnets: [...subnetIds] }),
  setNetworkAttributes: (aws, { arn, attributes }) =>
    aws.networkModifyLoadBalancerAttributes({
      LoadBalancerArn: arn,
      Attributes: tagList(attributes),
    }),
  createTargetGroup: (aws, { vpcId, wanted, tags }) =>
    aws.createTargetGroup({
      Name: wanted.name,
      VpcId: vpcId,
      Port: wanted.port,
      Protocol: wanted.protocol,
      TargetType: 'instance',
      HealthCheckProtocol: 'HTTP',
      ...healthOf(wanted),
      Tags: tagList(tags),
    }),
  deleteTargetGroup: (aws, { arn }) => aws.deleteTargetGroup({ TargetGroupArn: arn }),
  setTargetGroup: (aws, { arn, wanted }) =>
    aws.modifyTargetGroup({ TargetGroupArn: arn, ...healthOf(wanted) }),
  setTargetGroupAttributes: (aws, { arn, attributes }) =>
    aws.modifyTargetGroupAttributes({ TargetGroupArn: arn, Attributes: tagList(attributes) }),
  registerTargets: (aws, { arn, instanceIds, port }) =>
    inSequence(instanceIds, (ids) =>
      aws.registerTargets({ TargetGroupArn: arn, Targets: targetsOf(ids, port) }),
    ),
  deregisterTargets: (aws, { arn, instanceIds, port }) =>
    inSequence(instanceIds, (ids) =>
      aws.deregisterTargets({ TargetGroupArn: arn, Targets: targetsOf(ids, port) }),
    ),
  createListener: (aws, { arn, listener, targetGroupArn, tags }) =>
    aws.createListener({
      LoadBalancerArn: arn,
      ...listenerOf(listener, targetGroupArn),
      Tags: tagList(tags),
    }),
  setListener: (aws, { arn, listener, targetGroupArn }) =>
    aws.modifyListener({ ListenerArn: arn, ...listenerOf(listener, targetGroupArn) }),
  deleteListener: (aws, { arn }) => aws.deleteListener({ ListenerArn: arn }),
};

export const isNetworkChange = (change: { readonly kind: string }): change is NetworkChange =>
  Object.hasOwn(calls, change.kind);

export async function applyNetworkChange<K extends Kind>(
  aws: AwsCalls,
  change: NetworkChange & { readonly kind: K },
): Promise<void> {
  const call: Call<K> = calls[change.kind];
  await call(aws, change as ChangeOf<K>);
}

function healthOf({ healthPort, healthPath, healthCheck }: TargetGroupWanted) {
  return {
    HealthCheckPort: String(healthPort),
    HealthCheckPath: healthPath,
    HealthyThresholdCount: healthCheck.healthyThreshold,
    UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
    HealthCheckIntervalSeconds: healthCheck.intervalSeconds,
    HealthCheckTimeoutSeconds: healthCheck.timeoutSeconds,
  };
}

function listenerOf(
  { port, protocol, certificate, sslPolicy }: NetworkListener,
  TargetGroupArn: string,
): Omit<CreateListenerInput, 'LoadBalancerArn'> {
  return {
    Port: port,
    Protocol: protocol,
    DefaultActions: [{ Type: 'forward', TargetGroupArn }],
    ...(certificate === undefined ? {} : { Certificates: [{ CertificateArn: certificate }] }),
    ...(sslPolicy === undefined ? {} : { SslPolicy: sslPolicy }),
  };
}

const targetsOf = (ids: readonly string[], Port: number) => ids.map((Id) => ({ Id, Port }));

/** Upstream's size; larger ones are refused now and then. */
const maxTargets = 100;

async function inSequence(
  ids: readonly string[],
  send: (some: readonly string[]) => Promise<unknown>,
): Promise<void> {
  for (const some of chunks(ids, maxTargets)) await send(some);
}
