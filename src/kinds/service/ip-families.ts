// Settles ipFamilyPolicy and ipFamilies from the request and the cluster's families, before allocation (upstream:
// pkg/registry/core/service/storage/alloc.go). Its errors are returned alone, before any other validation.
import { familyOf } from '../../ip/address.ts';
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { isSelectorless, needsClusterIP, saysHeadless } from './needs.ts';
import { headlessIP, type IPFamily, type Service, type ServiceSpec, withSpec } from './types.ts';
import { validateClusterIPFields } from './validate-cluster-ips.ts';

export type FamilyRequest = {
  readonly before?: Service;
  readonly after: Service;
  /** Families of the Service ranges, the default first. */
  readonly families: readonly IPFamily[];
};

export type FamilyOutcome =
  | { readonly service: Service }
  | { readonly errors: readonly FieldError[] };

const policyField = 'spec.ipFamilyPolicy';

export function settleIPFamilies({ before, after, families }: FamilyRequest): FamilyOutcome {
  if (!needsClusterIP(after) || keepsPreferredStack(before, after)) return { service: after };
  if (before === undefined && leavesStackOpen(after.spec)) {
    const usual = { ipFamilies: families.slice(0, 1), ipFamilyPolicy: 'SingleStack' } as const;
    return { service: withSpec(after, usual) };
  }
  const withPolicy = withSpec(after, { ipFamilyPolicy: settlePolicy(before, after) });
  const malformed = validateClusterIPFields(withPolicy, before);
  if (malformed.length > 0) return { errors: malformed };

  const reduced = before === undefined ? withPolicy : dropSecondary(before, withPolicy);
  const inferred = inferFamilies(reduced.spec, families);
  const errors = [
    ...reductionErrors(before, reduced.spec),
    ...singleStackErrors(reduced.spec),
    ...inferred.errors,
  ];
  if (errors.length > 0) return { errors };
  return completeFamilies(withSpec(reduced, { ipFamilies: inferred.families }), families);
}

/** Most new Services set none of these fields: nothing to check or infer. */
function leavesStackOpen(spec: ServiceSpec): boolean {
  return (
    spec.clusterIP === undefined &&
    spec.clusterIPs === undefined &&
    spec.ipFamilies === undefined &&
    spec.ipFamilyPolicy === undefined
  );
}

/**
 * A PreferDualStack Service whose addresses and families are unchanged stays as it is, whatever the cluster has now:
 * unrelated updates never up- or downgrade it.
 */
function keepsPreferredStack(before: Service | undefined, after: Service): boolean {
  if (before === undefined) return false;
  const [old, now] = [before.spec, after.spec];
  return (
    old.type === now.type &&
    old.ipFamilyPolicy === 'PreferDualStack' &&
    now.ipFamilyPolicy === 'PreferDualStack' &&
    deepEqual(old.clusterIPs, now.clusterIPs) &&
    deepEqual(old.ipFamilies, now.ipFamilies)
  );
}

type Policy = NonNullable<ServiceSpec['ipFamilyPolicy']>;

function settlePolicy(before: Service | undefined, after: Service): Policy {
  const specified = after.spec.ipFamilyPolicy ?? before?.spec.ipFamilyPolicy;
  if (specified !== undefined) return specified;
  // Without a selector its endpoints may have both families.
  return saysHeadless(after) && isSelectorless(after) ? 'RequireDualStack' : 'SingleStack';
}

/** Under SingleStack, unchanged addresses or families mean that the second one is to be released. */
function dropSecondary(before: Service, after: Service): Service {
  const [old, now] = [before.spec, after.spec];
  if (now.ipFamilyPolicy !== 'SingleStack') return after;
  const sameAddresses = deepEqual(old.clusterIPs, now.clusterIPs);
  const sameFamilies = deepEqual(old.ipFamilies, now.ipFamilies);
  return withSpec(after, {
    ...(sameAddresses ? { clusterIPs: now.clusterIPs?.slice(0, 1) } : {}),
    ...(sameFamilies ? { ipFamilies: now.ipFamilies?.slice(0, 1) } : {}),
  });
}

function reductionErrors(before: Service | undefined, now: ServiceSpec): readonly FieldError[] {
  if (before === undefined || now.ipFamilyPolicy === 'SingleStack') return [];
  const isFewer = (old: readonly string[] = [], specified: readonly string[] = []): boolean =>
    specified.length > 0 && specified.length < old.length;
  const refuse = (what: string): FieldError =>
    invalid(
      policyField,
      now.ipFamilyPolicy,
      `must be 'SingleStack' to release the secondary ${what}`,
    );
  return [
    ...(isFewer(before.spec.clusterIPs, now.clusterIPs) ? [refuse('cluster IP')] : []),
    ...(isFewer(before.spec.ipFamilies, now.ipFamilies) ? [refuse('IP family')] : []),
  ];
}

function singleStackErrors(now: ServiceSpec): readonly FieldError[] {
  if (now.ipFamilyPolicy !== 'SingleStack') return [];
  const refuse = (what: string): FieldError =>
    invalid(
      policyField,
      now.ipFamilyPolicy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(now.clusterIPs?.length === 2 ? [refuse('cluster IPs')] : []),
    ...(now.ipFamilies?.length === 2 ? [refuse('IP families')] : []),
  ];
}

/** Addresses beyond the listed families determine theirs. */
function inferFamilies(
  { clusterIPs = [], ipFamilies = [] }: ServiceSpec,
  available: readonly IPFamily[],
): { readonly families: readonly IPFamily[] | undefined; readonly errors: readonly FieldError[] } {
  const families: IPFamily[] = [...ipFamilies];
  const errors: FieldError[] = [];
  const addresses = clusterIPs[0] === headlessIP ? [] : clusterIPs;
  for (const [index, address] of addresses.entries()) {
    const family = familyOf(address);
    if (index < families.length || family === undefined) continue;
    if (available.includes(family)) families.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.push(invalid(`spec.clusterIPs[${index}]`, clusterIPs, detail));
    }
  }
  return { families: families.length === 0 ? undefined : families, errors };
}

function completeFamilies(service: Service, available: readonly IPFamily[]): FamilyOutcome {
  const { ipFamilyPolicy, ipFamilies } = service.spec;
  const isDual = ipFamilyPolicy !== 'SingleStack';
  // Endpoints that are set by hand may have a family without a Service range.
  if (saysHeadless(service) && isSelectorless(service)) {
    return { service: withFamilies(service, available, isDual) };
  }
  const errors: FieldError[] = [];
  if (ipFamilyPolicy === 'RequireDualStack' && available.length < 2) {
    const detail = 'this cluster is not configured for dual-stack services';
    errors.push(invalid(policyField, ipFamilyPolicy, detail));
  }
  for (const [index, family] of (ipFamilies ?? []).entries()) {
    if (available.includes(family)) continue;
    errors.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  }
  if (errors.length > 0) return { errors };
  return { service: withFamilies(service, available, isDual && available.length === 2) };
}

function withFamilies(
  service: Service,
  available: readonly IPFamily[],
  wantsBoth: boolean,
): Service {
  const specified = service.spec.ipFamilies ?? available.slice(0, 1);
  if (!wantsBoth || specified.length !== 1) return withSpec(service, { ipFamilies: specified });
  return withSpec(service, {
    ipFamilies: [...specified, specified[0] === 'IPv4' ? 'IPv6' : 'IPv4'],
  });
}
