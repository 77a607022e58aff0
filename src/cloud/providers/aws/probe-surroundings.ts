// Reads the existing network: subnets, routes to the internet, instances.
import type { AwsCalls } from './apply-sdk.ts';
import type { Instance } from './instances.ts';
import { clusterTag, type Tags } from './names.ts';
import { chunks, collectPages, maxFilterValues } from './pages.ts';
import type { RouteTable, Subnet } from './subnets.ts';

export type Surroundings = {
  readonly subnets: readonly Subnet[];
  readonly routes: readonly RouteTable[];
};

/** Of the subnets that carry the cluster's tag, in one VPC if it is named. */
export async function probeSurroundings(
  aws: AwsCalls,
  cluster: string,
  vpcId?: string,
): Promise<Surroundings> {
  const subnets = await probeSubnets(aws, cluster, vpcId);
  const vpcIds = [...new Set(subnets.map((subnet) => subnet.vpcId))];
  return { subnets, routes: vpcIds.length === 0 ? [] : await probeRoutes(aws, vpcIds) };
}

async function probeSubnets(
  aws: AwsCalls,
  cluster: string,
  vpcId: string | undefined,
): Promise<readonly Subnet[]> {
  const found = await collectPages(async (NextToken) => {
    const { Subnets, NextToken: next } = await aws.describeSubnets({
      ...(NextToken === undefined ? {} : { NextToken }),
      Filters: [
        { Name: 'tag-key', Values: [clusterTag(cluster)] },
        ...(vpcId === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcId] }]),
      ],
    });
    return { items: Subnets, next };
  });
  return found.map((subnet) => ({
    id: subnet.SubnetId ?? '',
    vpcId: subnet.VpcId ?? '',
    zone: subnet.AvailabilityZone ?? '',
    cidr: subnet.CidrBlock ?? '',
    tags: readTags(subnet.Tags),
  }));
}

async function probeRoutes(
  aws: AwsCalls,
  vpcIds: readonly string[],
): Promise<readonly RouteTable[]> {
  const found = await collectPages(async (NextToken) => {
    const { RouteTables, NextToken: next } = await aws.describeRouteTables({
      ...(NextToken === undefined ? {} : { NextToken }),
      Filters: [{ Name: 'vpc-id', Values: [...vpcIds] }],
    });
    return { items: RouteTables, next };
  });
  return found.map(({ Associations = [], Routes = [] }) => ({
    subnetIds: Associations.flatMap(({ SubnetId }) => SubnetId ?? []),
    isMain: Associations.some(({ Main }) => Main === true),
    hasInternetGateway: Routes.some(({ GatewayId }) => GatewayId?.startsWith('igw-') ?? false),
  }));
}

/** The existing instances, without terminated ones, which cannot be targets. */
export async function probeInstances(
  aws: AwsCalls,
  ids: readonly string[],
): Promise<readonly Instance[]> {
  const instances: Instance[] = [];
  for (const some of chunks(ids, maxFilterValues)) {
    const reservations = await collectPages(async (NextToken) => {
      const { Reservations, NextToken: next } = await aws.describeInstances({
        ...(NextToken === undefined ? {} : { NextToken }),
        Filters: [
          { Name: 'instance-id', Values: [...some] },
          { Name: 'instance-state-name', Values: ['pending', 'running', 'stopping', 'stopped'] },
        ],
      });
      return { items: Reservations, next };
    });
    for (const { Instances = [] } of reservations) {
      for (const { InstanceId = '', SecurityGroups = [], State } of Instances) {
        const groupIds = SecurityGroups.flatMap(({ GroupId }) => GroupId ?? []);
        instances.push({ id: InstanceId, groupIds, isRunning: State?.Name === 'running' });
      }
    }
  }
  return instances.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export type SdkTag = { readonly Key?: string | undefined; readonly Value?: string | undefined };

export function readTags(tags: readonly SdkTag[] | undefined): Tags {
  return Object.fromEntries((tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value]));
}
