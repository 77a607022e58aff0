// Who else needs a rule that a balancer gives up. AWS holds a rule once, whoever needs it.
import type { Service } from '../../../kinds/service/types.ts';
import { hasCleanupFinalizer } from '../../service-controller/desired.ts';
import { desiredNodeRules } from './desired.ts';
import { balancerName } from './names.ts';
import { type Request, readRequest } from './request.ts';
import { balancerOfRule, describeRule, type Rule, ruleKey } from './rules.ts';
import type { Place } from './subnets.ts';

export type SuccessorsInput = {
  /** Who gives rules up. */
  readonly balancer: string;
  readonly services: Iterable<Service>;
  readonly placeFor: (isInternal: boolean) => Place;
};

export type SuccessorOf = (rule: Rule, inGroup: readonly Rule[]) => Rule | undefined;

/** Only a Service with the finalizer can inherit: it is certain that its rules are taken away with it. */
export function findSuccessors({ balancer, services, placeFor }: SuccessorsInput): SuccessorOf {
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
      if (needs(other, rule, placeFor)) {
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

function needs(service: Service, rule: Rule, placeFor: SuccessorsInput['placeFor']): boolean {
  const request = readIfServed(service);
  // Its balancer stands as it was before the Service became wrong; what it needs is not known, so it keeps everything.
  if (request === undefined) return true;
  const rules = desiredNodeRules(request, placeFor(request.settings.isInternal));
  return rules.some((one) => ruleKey(one) === ruleKey(rule));
}

function readIfServed(service: Service): Request | undefined {
  try {
    return readRequest(service);
  } catch {
    // Refused, or left to another controller: either way it says nothing of rules.
    return undefined;
  }
}
