import type { ProviderFlag } from '../../provider.ts';

export const awsFlags: readonly ProviderFlag[] = [
  {
    key: 'awsRegion',
    flag: '--aws-region <name>',
    meaning:
      'aws: region of the load balancers (default: AWS_REGION or the AWS configuration file)',
  },
  {
    key: 'awsEndpoint',
    flag: '--aws-endpoint <url>',
    meaning: 'aws: endpoint URL of EC2 and Elastic Load Balancing (default: AWS_ENDPOINT_URL)',
  },
  {
    key: 'awsVpc',
    flag: '--aws-vpc <id>',
    meaning:
      'aws: VPC of the load balancers. Required when subnets of several VPCs have the tag of the cluster',
  },
  {
    key: 'awsMaxAttempts',
    flag: '--aws-max-attempts <number>',
    meaning:
      'aws: maximum number of attempts of an API call before the Service is requeued, 1 to 10',
    defaultValue: '3',
  },
  {
    key: 'awsSettleSeconds',
    flag: '--aws-settle-seconds <seconds>',
    meaning: 'aws: seconds until writes become visible in AWS (eventual consistency), 0 to 300',
    defaultValue: '10',
  },
];
