// Finds another load balancer that needs a rule which one releases: AWS stores equal rules once.
import type { Service } from '../../../kinds/service/types.ts';
import { hasCleanupFinalizer } from '../../service-controller/desired.ts';
import { desiredNodeRules } from './desired.ts';
import { balancerName } from './names.ts';
import { type Request, readRequest } from './request.ts';
import { balancerOfRule, describeRule, type Rule, ruleKey } from './rules.ts';
import type { Placement } from './subnets.ts';

export type SuccessorsInput = {
  /** The load balancer that releases rules. */
  readonly balancer: string;
  readonly services: Iterable<Service>;
  readonly placementFor: (isInternal: boolean) => Placement;
};

export type SuccessorOf = (rule: Rule, inGroup: readonly Rule[]) => Rule | undefined;

/** Only a Service with the finalizer can be a successor: its rules are certain to be deleted with it. */
export function findSuccessors({ balancer, services, placementFor }: SuccessorsInput): SuccessorOf {
  const others = [...services].filter(
    (service) =>
      service.spec.type === 'LoadBalancer' &&
      service.metadata.deletionTimestamp === undefined &&
      hasCleanupFinalizer(service) &&
      balancerName(service.metadata.uid ?? '') !== balancer,
  );
  return (rule, inGroup) => {
    const purpose = purposeOf(rule);
    if (purpose === undefined) return undefined;
    const clients = new Set(inGroup.filter(isClientRule).map((one) => balancerOfRule(one)));
    for (const other of others) {
      const name = balancerName(other.metadata.uid ?? '');
      if (purpose !== 'elb/lent' && !clients.has(name)) continue;
      if (needs(other, rule, placementFor)) {
        return { ...rule, description: describeRule(purpose, name) };
      }
    }
    return undefined;
  };
}

function purposeOf({ description = '' }: Rule) {
  const purposes = ['elb/lent', 'nlb/health', 'nlb/mtu'] as const;
  return purposes.find((purpose) => description.startsWith(describeRule(purpose, '')));
}

const isClientRule = ({ description = '' }: Rule): boolean =>
  description.startsWith(describeRule('nlb/client', ''));

function needs(
  service: Service,
  rule: Rule,
  placementFor: SuccessorsInput['placementFor'],
): boolean {
  const request = readIfServed(service);
  // The Service is invalid now, but its load balancer still exists; its needs are unknown, so keep all rules.
  if (request === undefined) return true;
  const rules = desiredNodeRules(request, placementFor(request.settings.isInternal));
  return rules.some((one) => ruleKey(one) === ruleKey(rule));
}

function readIfServed(service: Service): Request | undefined {
  try {
    return readRequest(service);
  } catch {
    // Whatever the reason (invalid, or handled by another controller), it requests no rules.
    return undefined;
  }
}
