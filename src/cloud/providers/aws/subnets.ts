// Which subnets a balancer gets: one in each zone.
import { clusterTag, type Tags } from './names.ts';

export type Subnet = {
  readonly id: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly cidr: string;
  readonly tags: Tags;
};

/** Of a route table: the subnets that are tied to it, and whether it leads to the internet. */
export type RouteTable = {
  readonly subnetIds: readonly string[];
  /** It holds for all subnets of the VPC that have none of their own. */
  readonly isMain: boolean;
  readonly hasInternetGateway: boolean;
};

const roleTag = { internal: 'kubernetes.io/role/internal-elb', public: 'kubernetes.io/role/elb' };

/** The order is upstream's: those marked for the purpose first, then by their ids. A public balancer needs a public subnet. */
export function chooseSubnets(
  subnets: readonly Subnet[],
  routes: readonly RouteTable[],
  isInternal: boolean,
): readonly Subnet[] {
  const role = isInternal ? roleTag.internal : roleTag.public;
  const isMarked = ({ tags }: Subnet): boolean => {
    const value = tags[role];
    return value !== undefined && value !== '0' && value !== 'false';
  };
  const byZone = new Map<string, Subnet>();
  const usable = subnets.filter((subnet) => isInternal || isPublic(subnet, routes));
  const preferred = usable.toSorted(
    (a, b) => Number(isMarked(b)) - Number(isMarked(a)) || (a.id < b.id ? -1 : 1),
  );
  for (const subnet of preferred) {
    if (!byZone.has(subnet.zone)) byZone.set(subnet.zone, subnet);
  }
  return [...byZone.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function isPublic({ id }: Subnet, routes: readonly RouteTable[]): boolean {
  const own = routes.find(({ subnetIds }) => subnetIds.includes(id));
  return (own ?? routes.find(({ isMain }) => isMain))?.hasInternetGateway ?? false;
}

/** Where a balancer is to stand. */
export type Placement = { readonly vpcId: string; readonly subnets: readonly Subnet[] };

export type PlacementInput = {
  readonly cluster: string;
  readonly subnets: readonly Subnet[];
  readonly routes: readonly RouteTable[];
  readonly isInternal: boolean;
};

/** Throws what a person must do about the network; the Service is not to blame. */
export function choosePlacement({
  cluster,
  subnets,
  routes,
  isInternal,
}: PlacementInput): Placement {
  const [vpcId, ...others] = new Set(subnets.map((subnet) => subnet.vpcId));
  const tag = clusterTag(cluster);
  if (vpcId === undefined) {
    throw new Error(
      `Cannot choose subnets of the load balancer: no subnet has the tag "${tag}", at least one must`,
    );
  }
  if (others.length > 0) {
    throw new Error(
      `Cannot choose subnets of the load balancer: subnets with the tag "${tag}" are in ${others.length + 1} VPCs, --aws-vpc must say which one to use`,
    );
  }
  const chosen = chooseSubnets(subnets, routes, isInternal);
  if (chosen.length > 0) return { vpcId, subnets: chosen };
  throw new Error(
    `Cannot choose subnets of the load balancer: no subnet with the tag "${tag}" has a route to an internet gateway, at least one must (or the balancer be internal)`,
  );
}
