// Immutable fields of a Service.
import { type FieldError, forbidden, invalid, joined } from '../../meta/field-error.ts';
import { isHeadless, needsClusterIP, needsHealthCheck } from './needs.ts';
import type { Service } from './types.ts';
import { validateService } from './validate.ts';
import { validateLoadBalancerClass } from './validate-traffic.ts';

const unchangeable = 'may not change once set';

export function validateServiceUpdate(before: Service, after: Service): readonly FieldError[] {
  if (before.spec === after.spec)
    return joined([validateLoadBalancerClass(after), validateService(after, before)]);
  return joined([
    clusterIPChanges(before, after),
    familyChanges(before, after),
    classChanges(before, after),
    validateLoadBalancerClass(after),
    healthCheckChanges(before, after),
    validateService(after, before),
  ]);
}

/** Everything may change to and from ExternalName. */
function keepAddresses(before: Service, after: Service): boolean {
  return needsClusterIP(before) && needsClusterIP(after);
}

/**
 * A second address may be added and, under SingleStack, removed; the others are immutable. A Service that stays
 * headless has none.
 */
function clusterIPChanges(before: Service, after: Service): readonly FieldError[] {
  if (!keepAddresses(before, after) || (isHeadless(before) && isHeadless(after))) return [];
  const { clusterIPs: old = [] } = before.spec;
  const { clusterIPs: now = [], ipFamilyPolicy } = after.spec;
  const field = 'spec.clusterIPs';
  if (old.length === now.length) {
    return old.flatMap((ip, index) =>
      ip === now[index] ? [] : [invalid(`${field}[${index}]`, now, unchangeable)],
    );
  }
  const errors: FieldError[] = [];
  if (now.length === 0)
    errors.push(invalid(`${field}[0]`, now, 'primary clusterIP can not be unset'));
  if (old.length > 0 && now.length > 0 && old[0] !== now[0]) {
    errors.push(invalid(`${field}[0]`, now, unchangeable));
  }
  if (now.length === 1 && old.length > 1 && ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.push(invalid('spec.ipFamilyPolicy', ipFamilyPolicy, detail));
  }
  return errors;
}

/** Families of a headless Service are mutable; that it cannot get an address is reported for the address alone. */
function familyChanges(before: Service, after: Service): readonly FieldError[] {
  if (!keepAddresses(before, after) || isHeadless(before) || isHeadless(after)) return [];
  const { ipFamilies: old = [] } = before.spec;
  const { ipFamilies: now = [], ipFamilyPolicy, clusterIPs } = after.spec;
  // Upstream reports every changed family under the first index.
  const field = 'spec.ipFamilies[0]';
  if (old.length === now.length) {
    return old.flatMap((family, index) =>
      family === now[index] ? [] : [invalid(field, now, unchangeable)],
    );
  }
  const errors: FieldError[] = [];
  if (now.length === 0) errors.push(invalid(field, now, 'primary ipFamily can not be unset'));
  if (old.length > 0 && now.length > 0 && old[0] !== now[0]) {
    errors.push(invalid(field, clusterIPs, unchangeable));
  }
  if (now.length === 1 && old.length > 1 && ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    errors.push(invalid('spec.ipFamilyPolicy', ipFamilyPolicy, detail));
  }
  return errors;
}

function classChanges(before: Service, after: Service): readonly FieldError[] {
  const [old, now] = [before.spec, after.spec];
  if (old.type !== 'LoadBalancer' || now.type !== 'LoadBalancer') return [];
  if (old.loadBalancerClass === now.loadBalancerClass) return [];
  return [invalid('spec.loadBalancerClass', now.loadBalancerClass, unchangeable)];
}

function healthCheckChanges(before: Service, after: Service): readonly FieldError[] {
  if (!needsHealthCheck(before) || !needsHealthCheck(after)) return [];
  if (before.spec.healthCheckNodePort === after.spec.healthCheckNodePort) return [];
  return [forbidden('spec.healthCheckNodePort', 'field is immutable')];
}
