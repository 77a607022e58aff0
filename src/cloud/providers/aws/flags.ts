import type { ProviderFlag } from '../../provider.ts';

export const awsFlags: readonly ProviderFlag[] = [
  {
    key: 'awsRegion',
    flag: '--aws-region <name>',
    meaning: 'aws: region of the balancers (otherwise AWS_REGION or the AWS configuration file)',
  },
  {
    key: 'awsEndpoint',
    flag: '--aws-endpoint <url>',
    meaning: 'aws: where to reach EC2 and Elastic Load Balancing (otherwise AWS_ENDPOINT_URL)',
  },
  {
    key: 'awsVpc',
    flag: '--aws-vpc <id>',
    meaning:
      'aws: VPC of the balancers, needed when subnets of several carry the tag of the cluster',
  },
  {
    key: 'awsMaxAttempts',
    flag: '--aws-max-attempts <number>',
    meaning: 'aws: how often a call is tried before the Service is put back in the queue, 1 to 10',
    usual: '3',
  },
  {
    key: 'awsSettleSeconds',
    flag: '--aws-settle-seconds <seconds>',
    meaning: 'aws: how long AWS may take until it shows what was written, 0 to 300',
    usual: '10',
  },
];
