// A Service, the nodes and the place they stand in → all that is to be at AWS. Pure.
import type { Wanted } from './balancer.ts';
import { desiredClassic } from './desired-classic.ts';
import { desiredNetwork } from './desired-network.ts';
import type { Instance } from './instances.ts';
import { groupName, ownershipTags } from './names.ts';
import type { Request } from './request.ts';
import { balancerRules, classicNodeRules, networkNodeRules, type Rule } from './rules.ts';
import type { Placement } from './subnets.ts';

export type DesiredInput = {
  readonly cluster: string;
  readonly request: Request;
  readonly placement: Placement;
  readonly instances: readonly Instance[];
};

export function desired({ cluster, request, placement, instances }: DesiredInput): Wanted {
  const { owner, name, settings, ports, ranges } = request;
  const subnetIds = placement.subnets.map(({ id }) => id);
  const tags = { ...settings.resourceTags, ...ownershipTags(cluster, owner) };
  const idsOf = (isRunning: boolean): readonly string[] =>
    instances.filter((one) => one.isRunning === isRunning).map(({ id }) => id);
  const parts = { subnetIds, instanceIds: idsOf(true), stoppedIds: idsOf(false) };
  const common = { name, vpcId: placement.vpcId, tags };
  if (settings.kind === 'network') {
    return { ...common, balancer: desiredNetwork({ cluster, request, ...parts }) };
  }
  const group = {
    name: groupName(name),
    description: `Security group for Kubernetes ELB ${name} (${owner.namespace}/${owner.name})`,
    rules: balancerRules(ports, ranges),
  };
  return {
    ...common,
    ...(settings.securityGroups.length > 0 ? {} : { group }),
    balancer: desiredClassic({ request, ...parts }),
  };
}

/** What the nodes' groups must let in; the id is that of the group made for the balancer, where there is one. */
export function desiredNodeRules(request: Request, placement: Placement, groupId?: string): Rule[] {
  const { name, settings, ports, ranges, healthPort } = request;
  if (settings.kind === 'network') {
    const subnetRanges = placement.subnets.map(({ cidr }) => cidr);
    return networkNodeRules({ balancer: name, ports, ranges, healthPort, subnetRanges });
  }
  const lent = settings.securityGroups[0];
  const source = lent ?? groupId;
  return source === undefined ? [] : classicNodeRules(name, source, lent !== undefined);
}
