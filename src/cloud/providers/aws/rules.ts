// Rules of security groups: who may reach a balancer, and what a balancer may reach at the nodes (LBC-34, LBC-36).
import { familyOf } from '../../../ip/address.ts';
import { formatCidr, parseCidr } from '../../../ip/cidr.ts';
import type { Service, ServicePort } from '../../../kinds/service/types.ts';
import { UnmetRequestError } from '../../provider.ts';
import { annotation, readList, refuse } from './annotations.ts';

/** One source of one rule for incoming traffic. AWS knows it by all but the description. */
export type Rule = {
  readonly protocol: string;
  /** First port, or type of ICMP; -1 where the protocol has none. */
  readonly from: number;
  readonly to: number;
  /** A range of addresses, or the id of a group. */
  readonly source: string;
  readonly description?: string;
};

export function ruleKey({ protocol, from, to, source }: Rule): string {
  return `${protocol} ${from}-${to} ${source}`;
}

export const isGroupSource = ({ source }: Rule): boolean => source.startsWith('sg-');

/** What a rule in a node's group is for. */
export type Purpose = 'elb/source' | 'elb/lent' | 'nlb/client' | 'nlb/health' | 'nlb/mtu';

export function describeRule(purpose: Purpose, balancer: string): string {
  return `kubernetes.io/rule/${purpose}=${balancer}`;
}

/** The balancer that a rule says it is for. */
export function balancerOfRule({ description }: Rule): string | undefined {
  return /^kubernetes\.io\/rule\/(?:elb|nlb)\/[a-z]+=(.+)$/.exec(description ?? '')?.[1];
}

/**
 * Whether another balancer may need the very same rule. Node ports are a Service's own; health checks of the node proxy, ICMP and groups
 * that people lend are not.
 */
export function isSharedRule({ description = '' }: Rule): boolean {
  return /^kubernetes\.io\/rule\/(nlb\/(health|mtu)|elb\/lent)=/.test(description);
}

/** LBC-18. Balancers here have IPv4 addresses only, so ranges of IPv6 would never match. */
export function sourceRanges({ metadata, spec }: Service): readonly string[] {
  const annotations = metadata.annotations ?? {};
  const given = spec.loadBalancerSourceRanges ?? [];
  const texts = given.length > 0 ? given : readList(annotations, annotation.sourceRanges);
  if (texts.length === 0) return ['0.0.0.0/0'];
  const ranges = texts.map((text) => {
    const cidr = parseCidr(text.trim());
    if (cidr !== undefined) return formatCidr(cidr);
    if (given.length === 0) throw refuse(annotation.sourceRanges, text, 'a list of CIDRs');
    throw new UnmetRequestError(`loadBalancerSourceRanges has "${text}", which is no CIDR`);
  });
  return [...new Set(ranges)].filter((range) => familyOf(range.split('/')[0] ?? '') === 'IPv4');
}

/** Destination unreachable, fragmentation needed: without it large packets vanish on narrow paths. */
const pathMtu = { protocol: 'icmp', from: 3, to: 4 } as const;

/** Of the group in front of a classic balancer. */
export function balancerRules(ports: readonly ServicePort[], ranges: readonly string[]): Rule[] {
  return ranges.flatMap((source) => [
    ...ports.map(({ port }) => ({ protocol: 'tcp', from: port, to: port, source })),
    { ...pathMtu, source },
  ]);
}

/** Of the nodes' groups behind a classic balancer: everything from the balancer's first group. */
export function classicNodeRules(balancer: string, source: string, isLent: boolean): Rule[] {
  const description = describeRule(isLent ? 'elb/lent' : 'elb/source', balancer);
  return [{ protocol: '-1', from: -1, to: -1, source, description }];
}

export type NetworkRulesRequest = {
  readonly balancer: string;
  readonly ports: readonly ServicePort[];
  readonly ranges: readonly string[];
  readonly healthPort: number;
  readonly subnetRanges: readonly string[];
};

/** Of the nodes' groups behind a network balancer, which passes packets on with the client's address (LBC-36, LBC-37). */
export function networkNodeRules(request: NetworkRulesRequest): Rule[] {
  const { balancer, ports, ranges, healthPort, subnetRanges } = request;
  const rules = [
    ...ranges.flatMap((source) =>
      ports.map(({ nodePort = 0, protocol = 'TCP' }) => ({
        protocol: protocol.toLowerCase(),
        from: nodePort,
        to: nodePort,
        source,
        description: describeRule('nlb/client', balancer),
      })),
    ),
    ...subnetRanges.map((source) => ({
      protocol: 'tcp',
      from: healthPort,
      to: healthPort,
      source,
      description: describeRule('nlb/health', balancer),
    })),
    ...ranges.map((source) => ({
      ...pathMtu,
      source,
      description: describeRule('nlb/mtu', balancer),
    })),
  ];
  return [...new Map(rules.map((rule) => [ruleKey(rule), rule])).values()];
}
