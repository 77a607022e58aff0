// Validates addresses and ranges in fields. Fields that are older than the strict rules accept other spellings with a
// warning, and stored values unchanged.

import { formatAddress, parseAddress, parseAddressSloppy } from '../ip/address.ts';
import { type CidrText, formatCidr, masked, readCidr, readCidrSloppy } from '../ip/cidr.ts';
import { goQuote } from '../schema/go-quote.ts';
import { contains } from './contains.ts';
import { type FieldError, invalid } from './field-error.ts';

const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const notACidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** For new fields: unambiguous and in canonical form. */
export function validateIP(field: string, value: string): FieldError[] {
  const errors = addressErrors(field, value);
  const address = parseAddressSloppy(value);
  if (errors.length > 0 || address === undefined) return errors;
  const canonical = formatAddress(address);
  return value === canonical ? [] : [notCanonical(field, value, canonical)];
}

/** For old fields: any unambiguous spelling, and any stored value. */
export function validateIPLegacy(
  field: string,
  value: string,
  allowed: readonly string[] = [],
): FieldError[] {
  return contains(allowed, value) ? [] : addressErrors(field, value);
}

/** For old fields with ranges; `allowed` are the stored values. */
export function validateCIDR(
  field: string,
  value: string,
  allowed: readonly string[] = [],
): FieldError[] {
  if (contains(allowed, value)) return [];
  const complaint = cidrComplaint(value);
  return complaint === undefined ? [] : [invalid(field, value, complaint)];
}

/** For new fields that hold ranges: unambiguous and in canonical form. */
export function validateCanonicalCIDR(field: string, value: string): FieldError[] {
  const errors = validateCIDR(field, value);
  const read = readCidrSloppy(value);
  if (errors.length > 0 || read === undefined) return errors;
  const canonical = formatCidr(masked(read));
  return value === canonical ? [] : [notCanonical(field, value, canonical)];
}

/** Warnings about an address in an old field. */
export function warningsForIP(field: string, value: string): string[] {
  const sloppy = parseAddressSloppy(value);
  if (sloppy === undefined) return [];
  const strict = parseAddress(value);
  if (strict === undefined || strict.mapped) {
    const better = quote(formatAddress(sloppy));
    return [
      `${field}: non-standard IP address ${quote(value)} will be considered invalid in a future Kubernetes release: use ${better}`,
    ];
  }
  const canonical = formatAddress(strict);
  if (strict.family === 'IPv4' || canonical === value) return [];
  return [
    `${field}: IPv6 address ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`,
  ];
}

/** Warnings about a range in an old field. */
export function warningsForCIDR(field: string, value: string): string[] {
  const sloppy = readCidrSloppy(value);
  if (sloppy === undefined) return [];
  const network = formatCidr(masked(sloppy));
  const warnings: string[] = [];
  if (hasHostBits(sloppy)) {
    const single = `${formatAddress(sloppy.address)}/${sloppy.address.family === 'IPv4' ? 32 : 128}`;
    warnings.push(
      `${field}: CIDR value ${quote(value)} is ambiguous in this context (should be ${quote(network)} or ${quote(single)}?)`,
    );
  }
  const strict = readCidr(value);
  if (strict === undefined || strict.address.mapped) {
    warnings.push(
      `${field}: non-standard CIDR value ${quote(value)} will be considered invalid in a future Kubernetes release: use ${quote(network)}`,
    );
  } else if (warnings.length === 0 && strict.address.family === 'IPv6' && network !== value) {
    warnings.push(
      `${field}: IPv6 CIDR value ${quote(value)} should be in RFC 5952 canonical format (${quote(network)})`,
    );
  }
  return warnings;
}

function addressErrors(field: string, value: string): FieldError[] {
  if (parseAddressSloppy(value) === undefined) return [invalid(field, value, notAnAddress)];
  const strict = parseAddress(value);
  if (strict === undefined) return [invalid(field, value, 'must not have leading 0s')];
  return strict.mapped ? [invalid(field, value, 'must not be an IPv4-mapped IPv6 address')] : [];
}

function cidrComplaint(value: string): string | undefined {
  if (readCidrSloppy(value) === undefined) return notACidr;
  const strict = readCidr(value);
  if (strict === undefined) return 'must not have leading 0s in IP or prefix length';
  if (strict.address.mapped) return 'must not have an IPv4-mapped IPv6 address';
  return hasHostBits(strict) ? 'must not have bits set beyond the prefix length' : undefined;
}

function hasHostBits(read: CidrText): boolean {
  return masked(read).base !== read.address.value;
}

function notCanonical(field: string, value: string, canonical: string): FieldError {
  return invalid(field, value, `must be in canonical form (${quote(canonical)})`);
}

function quote(text: string): string {
  return goQuote(text);
}
