// Resource claims of pods and containers, and in the status.
import { cutText } from '../../meta/cut-text.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notFoundValue,
  required,
} from '../../meta/field-error.ts';
import { dns1123Label, dns1123Subdomain } from '../../meta/names.ts';
import { invalidEach } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import type { ResourceRequirements } from './resources.ts';

type PodClaim = NonNullable<PodSpec['resourceClaims']>[number];
type ContainerClaim = NonNullable<ResourceRequirements['claims']>[number];

/** The pod's claims in error messages of containers, built once. */
export type PodClaims = { readonly names: ReadonlySet<string>; readonly notFoundDetail: string };

export function podClaimsOf(spec: PodSpec): PodClaims {
  const names = new Set((spec.resourceClaims ?? []).map(({ name }) => name).filter(Boolean));
  const known = names.size === 0 ? ' which is empty' : `: ${[...names].sort().join(', ')}`;
  const notFoundDetail = `must be one of the names in pod.spec.resourceClaims${cutText(known)}`;
  return { names, notFoundDetail };
}

export function validatePodClaims(
  claims: readonly PodClaim[],
  field: string,
): readonly FieldError[] {
  const names = new Set<string>();
  return claims.flatMap((claim, index) => {
    const at = `${field}[${index}]`;
    return [
      ...validateClaimName(claim.name, names, `${at}.name`),
      ...validateClaimSource(claim, at),
    ];
  });
}

function validateClaimName(name: string, names: Set<string>, field: string): readonly FieldError[] {
  if (name === '') return [required(field)];
  if (names.has(name)) return [duplicate(field, name)];
  names.add(name);
  return invalidEach(field, name, dns1123Label(name));
}

function validateClaimSource(claim: PodClaim, field: string): readonly FieldError[] {
  const { name, resourceClaimName: own, resourceClaimTemplateName: template } = claim;
  const problem =
    own !== undefined && template !== undefined
      ? 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      : own === undefined && template === undefined
        ? 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
        : undefined;
  const shown = {
    Name: name,
    ResourceClaimName: own ?? null,
    ResourceClaimTemplateName: template ?? null,
  };
  return [
    ...(problem === undefined ? [] : [invalid(field, shown, problem)]),
    ...validateObjectName(own, `${field}.resourceClaimName`),
    ...validateObjectName(template, `${field}.resourceClaimTemplateName`),
  ];
}

function validateObjectName(name: string | undefined, field: string): readonly FieldError[] {
  return name === undefined ? [] : invalidEach(field, name, dns1123Subdomain(name));
}

/** Each claim or request once. A claim and one of its requests overlap. */
export function validateContainerClaims(
  claims: readonly ContainerClaim[],
  ofPod: PodClaims,
  field: string,
): readonly FieldError[] {
  const used = { keys: new Set<string>(), requests: new Map<string, number>() };
  return claims.flatMap((claim, index) => {
    const at = `${field}[${index}]`;
    const { name } = claim;
    if (name === '') return [required(at)];
    const missing = { ...notFoundValue(at, name), detail: ofPod.notFoundDetail };
    return [...useClaim(claim, used, at), ...(ofPod.names.has(name) ? [] : [missing])];
  });
}

/** `requests` counts requests by claim, which stays fast for ten thousand. */
type UsedClaims = { readonly keys: Set<string>; readonly requests: Map<string, number> };

function useClaim(
  { name, request = '' }: ContainerClaim,
  { keys, requests }: UsedClaims,
  field: string,
): readonly FieldError[] {
  if (keys.has(name)) return [duplicate(field, name)];
  if (request === '') {
    keys.add(name);
    return Array.from({ length: requests.get(name) ?? 0 }, () => duplicate(field, name));
  }
  const key = `${name}/${request}`;
  const wrong = invalidEach(`${field}.request`, request, dns1123Label(request));
  if (keys.has(key)) return [...wrong, duplicate(field, key)];
  keys.add(key);
  requests.set(name, (requests.get(name) ?? 0) + 1);
  return wrong;
}

/** Pod-level claims are rejected; where one is named, it is validated like a container's. */
export function validatePodLevelClaims(
  { claims }: ResourceRequirements,
  ofPod: PodClaims,
  field: string,
): readonly FieldError[] {
  if (claims === undefined) return [];
  return [
    forbidden(field, 'claims cannot be set for Resources at pod-level'),
    ...validateContainerClaims(claims, ofPod, field),
  ];
}
