// The calls to AWS, through its SDK. This is the only file that loads it: a program that serves no AWS never reads it, and the build makes a
// file of its own from it (scripts/bundle.mjs), so nothing here may be compared with `instanceof` elsewhere.
import * as ec2 from '@aws-sdk/client-ec2';
import * as elb from '@aws-sdk/client-elastic-load-balancing';
import * as v2 from '@aws-sdk/client-elastic-load-balancing-v2';

export type SdkOptions = {
  /** From the environment and the AWS configuration file when absent. */
  readonly region?: string;
  readonly endpoint?: string;
  readonly maxAttempts: number;
  /** Called when a call is over, with the name of what went wrong if something did. */
  readonly observe: (call: ObservedCall) => void;
};

export type ObservedCall = {
  readonly request: string;
  readonly tookMs: number;
  readonly error?: string;
  /** Beyond the first. */
  readonly extraAttempts: number;
};

export type Sdk = {
  /** The calls of one piece of work, which end with its signal. */
  readonly calls: (signal: AbortSignal) => AwsCalls;
  /** Throws when no region is configured. */
  readonly region: () => Promise<string>;
  readonly close: () => void;
};

export type AwsCalls = ReturnType<typeof bindClassic> &
  ReturnType<typeof bindNetwork> &
  ReturnType<typeof bindEc2>;

/** A new call is better than one that hangs. */
const connectTimeoutMs = 5_000;
const requestTimeoutMs = 30_000;
/** Balancers are looked after a few at a time; more sockets would only run into the limits of the account. */
const maxSockets = 20;

export function openSdk({ region, endpoint, maxAttempts, observe }: SdkOptions): Sdk {
  const config = {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts,
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: maxSockets },
      httpsAgent: { maxSockets: maxSockets },
    },
  };
  const classic = new elb.ElasticLoadBalancingClient(config);
  const network = new v2.ElasticLoadBalancingV2Client(config);
  const compute = new ec2.EC2Client(config);
  for (const client of [classic, network, compute]) watchCalls(client.middlewareStack, observe);
  return {
    calls: (abortSignal) => ({
      ...bindClassic(classic, { abortSignal }),
      ...bindNetwork(network, { abortSignal }),
      ...bindEc2(compute, { abortSignal }),
    }),
    region: () => classic.config.region(),
    close() {
      for (const client of [classic, network, compute]) client.destroy();
    },
  };
}

type Next = (args: never) => Promise<{ output: { readonly $metadata?: object } }>;
type Stack = { add(middleware: unknown, options: { step: 'initialize'; name: string }): void };

function watchCalls(stack: object, observe: SdkOptions['observe']): void {
  const middleware =
    (next: Next, context: { readonly commandName?: string }) => async (args: never) => {
      const startedAt = performance.now();
      const end = (metadata: unknown, error?: string): void =>
        observe({
          request: (context.commandName ?? '').replace(/Command$/, ''),
          tookMs: performance.now() - startedAt,
          extraAttempts: Math.max(0, attemptsOf(metadata) - 1),
          ...(error === undefined ? {} : { error }),
        });
      try {
        const result = await next(args);
        end(result.output.$metadata);
        return result;
      } catch (error) {
        const { name, $metadata } = error as { name?: string; $metadata?: object };
        end($metadata, name ?? 'Error');
        throw error;
      }
    };
  (stack as Stack).add(middleware, { step: 'initialize', name: 'observe' });
}

const attemptsOf = (metadata: unknown): number =>
  (metadata as { attempts?: number } | undefined)?.attempts ?? 1;

type Bound = { readonly abortSignal: AbortSignal };

function bindClassic(client: elb.ElasticLoadBalancingClient, bound: Bound) {
  return {
    classicDescribeLoadBalancers: (input: elb.DescribeLoadBalancersCommandInput) =>
      client.send(new elb.DescribeLoadBalancersCommand(input), bound),
    classicDescribeLoadBalancerAttributes: (
      input: elb.DescribeLoadBalancerAttributesCommandInput,
    ) => client.send(new elb.DescribeLoadBalancerAttributesCommand(input), bound),
    classicDescribeTags: (input: elb.DescribeTagsCommandInput) =>
      client.send(new elb.DescribeTagsCommand(input), bound),
    classicCreateLoadBalancer: (input: elb.CreateLoadBalancerCommandInput) =>
      client.send(new elb.CreateLoadBalancerCommand(input), bound),
    classicDeleteLoadBalancer: (input: elb.DeleteLoadBalancerCommandInput) =>
      client.send(new elb.DeleteLoadBalancerCommand(input), bound),
    classicAddTags: (input: elb.AddTagsCommandInput) =>
      client.send(new elb.AddTagsCommand(input), bound),
    attachLoadBalancerToSubnets: (input: elb.AttachLoadBalancerToSubnetsCommandInput) =>
      client.send(new elb.AttachLoadBalancerToSubnetsCommand(input), bound),
    detachLoadBalancerFromSubnets: (input: elb.DetachLoadBalancerFromSubnetsCommandInput) =>
      client.send(new elb.DetachLoadBalancerFromSubnetsCommand(input), bound),
    applySecurityGroupsToLoadBalancer: (input: elb.ApplySecurityGroupsToLoadBalancerCommandInput) =>
      client.send(new elb.ApplySecurityGroupsToLoadBalancerCommand(input), bound),
    createLoadBalancerListeners: (input: elb.CreateLoadBalancerListenersCommandInput) =>
      client.send(new elb.CreateLoadBalancerListenersCommand(input), bound),
    deleteLoadBalancerListeners: (input: elb.DeleteLoadBalancerListenersCommandInput) =>
      client.send(new elb.DeleteLoadBalancerListenersCommand(input), bound),
    setLoadBalancerListenerSSLCertificate: (
      input: elb.SetLoadBalancerListenerSSLCertificateCommandInput,
    ) => client.send(new elb.SetLoadBalancerListenerSSLCertificateCommand(input), bound),
    createLoadBalancerPolicy: (input: elb.CreateLoadBalancerPolicyCommandInput) =>
      client.send(new elb.CreateLoadBalancerPolicyCommand(input), bound),
    setLoadBalancerPoliciesOfListener: (input: elb.SetLoadBalancerPoliciesOfListenerCommandInput) =>
      client.send(new elb.SetLoadBalancerPoliciesOfListenerCommand(input), bound),
    setLoadBalancerPoliciesForBackendServer: (
      input: elb.SetLoadBalancerPoliciesForBackendServerCommandInput,
    ) => client.send(new elb.SetLoadBalancerPoliciesForBackendServerCommand(input), bound),
    configureHealthCheck: (input: elb.ConfigureHealthCheckCommandInput) =>
      client.send(new elb.ConfigureHealthCheckCommand(input), bound),
    classicModifyLoadBalancerAttributes: (input: elb.ModifyLoadBalancerAttributesCommandInput) =>
      client.send(new elb.ModifyLoadBalancerAttributesCommand(input), bound),
    registerInstancesWithLoadBalancer: (input: elb.RegisterInstancesWithLoadBalancerCommandInput) =>
      client.send(new elb.RegisterInstancesWithLoadBalancerCommand(input), bound),
    deregisterInstancesFromLoadBalancer: (
      input: elb.DeregisterInstancesFromLoadBalancerCommandInput,
    ) => client.send(new elb.DeregisterInstancesFromLoadBalancerCommand(input), bound),
  };
}

function bindNetwork(client: v2.ElasticLoadBalancingV2Client, bound: Bound) {
  return {
    networkDescribeLoadBalancers: (input: v2.DescribeLoadBalancersCommandInput) =>
      client.send(new v2.DescribeLoadBalancersCommand(input), bound),
    networkDescribeLoadBalancerAttributes: (input: v2.DescribeLoadBalancerAttributesCommandInput) =>
      client.send(new v2.DescribeLoadBalancerAttributesCommand(input), bound),
    networkDescribeTags: (input: v2.DescribeTagsCommandInput) =>
      client.send(new v2.DescribeTagsCommand(input), bound),
    describeListeners: (input: v2.DescribeListenersCommandInput) =>
      client.send(new v2.DescribeListenersCommand(input), bound),
    describeTargetGroups: (input: v2.DescribeTargetGroupsCommandInput) =>
      client.send(new v2.DescribeTargetGroupsCommand(input), bound),
    describeTargetGroupAttributes: (input: v2.DescribeTargetGroupAttributesCommandInput) =>
      client.send(new v2.DescribeTargetGroupAttributesCommand(input), bound),
    describeTargetHealth: (input: v2.DescribeTargetHealthCommandInput) =>
      client.send(new v2.DescribeTargetHealthCommand(input), bound),
    networkCreateLoadBalancer: (input: v2.CreateLoadBalancerCommandInput) =>
      client.send(new v2.CreateLoadBalancerCommand(input), bound),
    networkDeleteLoadBalancer: (input: v2.DeleteLoadBalancerCommandInput) =>
      client.send(new v2.DeleteLoadBalancerCommand(input), bound),
    networkAddTags: (input: v2.AddTagsCommandInput) =>
      client.send(new v2.AddTagsCommand(input), bound),
    setSubnets: (input: v2.SetSubnetsCommandInput) =>
      client.send(new v2.SetSubnetsCommand(input), bound),
    networkModifyLoadBalancerAttributes: (input: v2.ModifyLoadBalancerAttributesCommandInput) =>
      client.send(new v2.ModifyLoadBalancerAttributesCommand(input), bound),
    createTargetGroup: (input: v2.CreateTargetGroupCommandInput) =>
      client.send(new v2.CreateTargetGroupCommand(input), bound),
    modifyTargetGroup: (input: v2.ModifyTargetGroupCommandInput) =>
      client.send(new v2.ModifyTargetGroupCommand(input), bound),
    modifyTargetGroupAttributes: (input: v2.ModifyTargetGroupAttributesCommandInput) =>
      client.send(new v2.ModifyTargetGroupAttributesCommand(input), bound),
    deleteTargetGroup: (input: v2.DeleteTargetGroupCommandInput) =>
      client.send(new v2.DeleteTargetGroupCommand(input), bound),
    registerTargets: (input: v2.RegisterTargetsCommandInput) =>
      client.send(new v2.RegisterTargetsCommand(input), bound),
    deregisterTargets: (input: v2.DeregisterTargetsCommandInput) =>
      client.send(new v2.DeregisterTargetsCommand(input), bound),
    createListener: (input: v2.CreateListenerCommandInput) =>
      client.send(new v2.CreateListenerCommand(input), bound),
    modifyListener: (input: v2.ModifyListenerCommandInput) =>
      client.send(new v2.ModifyListenerCommand(input), bound),
    deleteListener: (input: v2.DeleteListenerCommandInput) =>
      client.send(new v2.DeleteListenerCommand(input), bound),
  };
}

function bindEc2(client: ec2.EC2Client, bound: Bound) {
  return {
    describeSubnets: (input: ec2.DescribeSubnetsCommandInput) =>
      client.send(new ec2.DescribeSubnetsCommand(input), bound),
    describeRouteTables: (input: ec2.DescribeRouteTablesCommandInput) =>
      client.send(new ec2.DescribeRouteTablesCommand(input), bound),
    describeInstances: (input: ec2.DescribeInstancesCommandInput) =>
      client.send(new ec2.DescribeInstancesCommand(input), bound),
    describeSecurityGroups: (input: ec2.DescribeSecurityGroupsCommandInput) =>
      client.send(new ec2.DescribeSecurityGroupsCommand(input), bound),
    createSecurityGroup: (input: ec2.CreateSecurityGroupCommandInput) =>
      client.send(new ec2.CreateSecurityGroupCommand(input), bound),
    deleteSecurityGroup: (input: ec2.DeleteSecurityGroupCommandInput) =>
      client.send(new ec2.DeleteSecurityGroupCommand(input), bound),
    createTags: (input: ec2.CreateTagsCommandInput) =>
      client.send(new ec2.CreateTagsCommand(input), bound),
    authorizeSecurityGroupIngress: (input: ec2.AuthorizeSecurityGroupIngressCommandInput) =>
      client.send(new ec2.AuthorizeSecurityGroupIngressCommand(input), bound),
    revokeSecurityGroupIngress: (input: ec2.RevokeSecurityGroupIngressCommandInput) =>
      client.send(new ec2.RevokeSecurityGroupIngressCommand(input), bound),
    updateSecurityGroupRuleDescriptionsIngress: (
      input: ec2.UpdateSecurityGroupRuleDescriptionsIngressCommandInput,
    ) => client.send(new ec2.UpdateSecurityGroupRuleDescriptionsIngressCommand(input), bound),
  };
}
