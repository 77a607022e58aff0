import { parseCidrSloppy } from '../../ip/cidr.ts';
import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { validateCanonicalCIDR } from '../../meta/validate-ip.ts';
import type { ServiceCIDR } from './types.ts';

const field = 'spec.cidrs';
const maxRanges = 2;
const immutable = 'field is immutable';

export function validateServiceCIDR({ spec }: ServiceCIDR): readonly FieldError[] {
  const cidrs = spec.cidrs ?? [];
  if (cidrs.length === 0) return [required(field, 'at least one CIDR required')];
  if (cidrs.length > maxRanges) {
    // Messages show upstream's internal form of the spec.
    return [invalid(field, { CIDRs: cidrs }, `may only hold up to ${maxRanges} values`)];
  }
  if (cidrs.length === maxRanges && !isDualStack(cidrs)) {
    const detail =
      'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    return [invalid(field, cidrs, detail)];
  }
  return cidrs.flatMap((cidr, index) => validateCanonicalCIDR(`${field}[${index}]`, cidr));
}

function isDualStack(cidrs: readonly string[]): boolean {
  const families = cidrs.map((cidr) => parseCidrSloppy(cidr)?.family);
  return families.includes('IPv4') && families.includes('IPv6');
}

/** A range of the other family may be added; nothing else is mutable. */
export function validateServiceCIDRUpdate(
  before: ServiceCIDR,
  after: ServiceCIDR,
): readonly FieldError[] {
  const old = before.spec.cidrs ?? [];
  const now = after.spec.cidrs ?? [];
  const changed = old.flatMap((cidr, index) =>
    cidr === now[index] ? [] : [invalid(`${field}[${index}]`, now[index], immutable)],
  );
  if (old.length === now.length) return changed;
  if (old.length === 1 && now.length === 2) return [...changed, ...validateServiceCIDR(after)];
  return [invalid(field, after.spec.cidrs, immutable)];
}
