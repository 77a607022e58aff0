import { parseAddressSloppy } from '../../ip/address.ts';
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import type { LoadBalancerIngress, Service } from './types.ts';

const ingressField = 'status.loadBalancer.ingress';
const ipModes: readonly string[] = ['Proxy', 'VIP'];

export function validateServiceStatus(before: Service, after: Service): readonly FieldError[] {
  const { ingress = [] } = after.status.loadBalancer;
  if (ingress.length === 0) return [];
  if (after.spec.type !== 'LoadBalancer') {
    return [forbidden(ingressField, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const stored = (before.status.loadBalancer.ingress ?? []).map((entry) => entry.ip ?? '');
  return ingress.flatMap((entry, index) => {
    const field = `${ingressField}[${index}]`;
    return [
      ...(entry.ip === undefined ? [] : validateIPLegacy(`${field}.ip`, entry.ip, stored)),
      ...modeErrors(entry, `${field}.ipMode`),
      ...hostnameErrors(entry, `${field}.hostname`),
    ];
  });
}

function modeErrors({ ip, ipMode }: LoadBalancerIngress, field: string): readonly FieldError[] {
  if (ipMode === undefined) {
    return ip === undefined ? [] : [required(field, 'must be specified when `ip` is set')];
  }
  if (ip === undefined) return [forbidden(field, 'may not be specified when `ip` is not set')];
  return ipModes.includes(ipMode) ? [] : [notSupported(field, ipMode, ipModes)];
}

function hostnameErrors({ hostname }: LoadBalancerIngress, field: string): readonly FieldError[] {
  if (hostname === undefined) return [];
  const wrong = [
    ...dns1123Subdomain(hostname),
    ...(parseAddressSloppy(hostname) === undefined
      ? []
      : ['must be a DNS name, not an IP address']),
  ];
  return wrong.map((detail) => invalid(field, hostname, detail));
}
