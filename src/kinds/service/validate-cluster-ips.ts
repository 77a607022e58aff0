// Validates clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy together: before allocation, and again with the whole
// object.
import { isIPv6 } from '../../ip/address.ts';
import { repeatedIndexes } from '../../meta/contains.ts';
import {
  duplicate,
  type FieldError,
  invalid,
  joined,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { isHeadless, needsClusterIP } from './needs.ts';
import { headlessIP, type Service, type ServiceSpec } from './types.ts';

const field = 'spec.clusterIPs';
const maxAddresses = 2;

export function validateClusterIPFields(service: Service, before?: Service): readonly FieldError[] {
  if (!needsClusterIP(service)) return [];
  const { spec } = service;
  const malformed = malformedAddresses(spec.clusterIPs ?? [], before?.spec.clusterIPs ?? []);
  return joined([
    linkErrors(spec),
    familyErrors(spec.ipFamilies ?? []),
    policyErrors(spec),
    malformed,
    countErrors(spec.clusterIPs ?? []),
    // Families of malformed addresses would only confuse.
    malformed.length > 0 ? [] : stackErrors(service),
  ]);
}

function linkErrors({ clusterIP, clusterIPs = [] }: ServiceSpec): readonly FieldError[] {
  if (clusterIP === undefined) {
    if (clusterIPs.length === 0) return [];
    return [invalid(field, clusterIPs, 'must be empty when `clusterIP` is not specified')];
  }
  if (clusterIPs.length === 0) return [required(field)];
  if (clusterIPs[0] === clusterIP) return [];
  return [invalid(field, clusterIPs, 'first value must match `clusterIP`')];
}

const knownFamilies: readonly string[] = ['IPv4', 'IPv6'];

function familyErrors(families: readonly string[]): readonly FieldError[] {
  const repeated = repeatedIndexes(families);
  return families.flatMap((family, index) => {
    const path = `spec.ipFamilies[${index}]`;
    return [
      ...(knownFamilies.includes(family) ? [] : [notSupported(path, family, knownFamilies)]),
      ...(repeated.has(index) ? [duplicate(path, family)] : []),
    ];
  });
}

const knownPolicies: readonly string[] = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

function policyErrors({ ipFamilyPolicy }: ServiceSpec): readonly FieldError[] {
  if (ipFamilyPolicy === undefined || knownPolicies.includes(ipFamilyPolicy)) return [];
  return [notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, knownPolicies)];
}

function malformedAddresses(
  addresses: readonly string[],
  stored: readonly string[],
): readonly FieldError[] {
  return addresses.flatMap((address, index) => {
    if (index > 0 || address !== headlessIP) {
      return validateIPLegacy(`${field}[${index}]`, address, stored);
    }
    if (addresses.length === 1) return [];
    return [invalid(field, addresses, "'None' must be the first and only value")];
  });
}

function countErrors(addresses: readonly string[]): readonly FieldError[] {
  if (addresses.length <= maxAddresses) return [];
  return [invalid(field, addresses, `may only hold up to ${maxAddresses} values`)];
}

function stackErrors(service: Service): readonly FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = service.spec;
  const errors: FieldError[] = [];
  const isMixed = clusterIPs.some(isIPv6) && !clusterIPs.every(isIPv6);
  if (clusterIPs.length > 1 && !isMixed) {
    errors.push(invalid(field, clusterIPs, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(service)) return errors;
  for (const [index, address] of clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family === undefined) break;
    if ((family === 'IPv4' && isIPv6(address)) || (family === 'IPv6' && !isIPv6(address))) {
      const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
      errors.push(invalid(`${field}[${index}]`, address, detail));
    }
  }
  return errors;
}
