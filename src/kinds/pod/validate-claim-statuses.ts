// Resource claims in the status of a pod.
import { duplicate, type FieldError, invalid, required } from '../../meta/field-error.ts';
import { dns1123Label, dns1123Subdomain } from '../../meta/names.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { invalidEach } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodStatus } from './pod-status.ts';
import type { ResourceList } from './resources.ts';
import type { Pod } from './types.ts';
import { isNative } from './validate-resources.ts';

export function validateClaimStatuses({ spec, status }: Pod): readonly FieldError[] {
  return [
    ...validateNamedStatuses(spec, status, 'status.resourceClaimStatuses'),
    ...validateExtendedStatus(spec, status, 'status.extendedResourceClaimStatus'),
    ...validateNodeStatuses(spec, status, 'status.nodeAllocatableResourceClaimStatuses'),
  ];
}

function validateNamedStatuses(
  spec: PodSpec,
  { resourceClaimStatuses = [] }: PodStatus,
  field: string,
): readonly FieldError[] {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  return resourceClaimStatuses.flatMap(({ name, resourceClaimName: claim }, index) => {
    const at = `${field}[${index}]`;
    const isRepeated = seen.has(name);
    seen.add(name);
    return [
      ...(known.has(name)
        ? []
        : [
            invalid(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`'),
          ]),
      ...(isRepeated ? [duplicate(`${at}.name`, name)] : []),
      ...(claim === undefined
        ? []
        : invalidEach(`${at}.resourceClaimName`, claim, dns1123Subdomain(claim))),
    ];
  });
}

const noSuchContainer =
  'must match the name of an entry in spec.initContainers.name or spec.containers.name';
const noSuchResource =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';

function validateExtendedStatus(
  spec: PodSpec,
  { extendedResourceClaimStatus: claim }: PodStatus,
  field: string,
): readonly FieldError[] {
  if (claim === undefined) return [];
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const requests = new Map(containers.map((c) => [c.name, c.resources.requests ?? {}]));
  const mappings = claim.requestMappings ?? [];
  const at = `${field}.requestMappings`;
  const seen = new Set<string>();
  return [
    ...(mappings.length === 0 ? [required(at, 'at least one request mapping is required')] : []),
    ...mappings.flatMap((mapping, index) => {
      const key = JSON.stringify([
        mapping.containerName,
        mapping.resourceName,
        mapping.requestName,
      ]);
      const isRepeated = seen.has(key);
      seen.add(key);
      const fields = ['containerName', 'resourceName', 'requestName'] as const;
      return [
        ...validateMapping(mapping, requests, `${at}[${index}]`),
        // Upstream's path lacks the list and its index.
        ...invalidEach(
          `${field}.requestName`,
          mapping.requestName,
          dns1123Label(mapping.requestName),
        ),
        ...(isRepeated
          ? fields.map((name) => duplicate(`${at}[${index}].${name}`, mapping[name]))
          : []),
      ];
    }),
    ...(claim.resourceClaimName === ''
      ? [required(`${field}.resourceClaimName`)]
      : invalidEach(
          `${field}.resourceClaimName`,
          claim.resourceClaimName,
          dns1123Subdomain(claim.resourceClaimName),
        )),
  ];
}

function validateMapping(
  {
    containerName,
    resourceName,
  }: { readonly containerName: string; readonly resourceName: string },
  requests: ReadonlyMap<string, ResourceList>,
  field: string,
): readonly FieldError[] {
  const ofContainer = requests.get(containerName);
  if (ofContainer === undefined) {
    return [invalid(`${field}.containerName`, containerName, noSuchContainer)];
  }
  return Object.hasOwn(ofContainer, resourceName)
    ? []
    : [invalid(`${field}.resourceName`, resourceName, noSuchResource)];
}

function validateNodeStatuses(
  spec: PodSpec,
  { nodeAllocatableResourceClaimStatuses: statuses = [], resourceClaimStatuses = [] }: PodStatus,
  field: string,
): readonly FieldError[] {
  const known = new Set(
    [...(spec.resourceClaims ?? []), ...resourceClaimStatuses].map((c) => c.resourceClaimName),
  );
  return statuses.flatMap(
    ({ resourceClaimName: claim, containers = [], resources = {} }, index) => {
      const at = `${field}[${index}]`;
      const names = Object.keys(resources ?? {}).sort();
      return [
        ...(claim === '' ? [required(`${at}.resourceClaimName`, 'must not be empty')] : []),
        ...(known.has(claim)
          ? []
          : [invalid(`${at}.resourceClaimName`, claim, 'no mapping found in pod reference')]),
        ...(containers.length === 0 ? [required(`${at}.containers`, 'must not be empty')] : []),
        ...(names.length === 0 ? [required(`${at}.resources`, 'must not be empty')] : []),
        ...names.flatMap((name) => {
          const quantity = resources?.[name] ?? '0';
          const key = `${at}.resources[${name}]`;
          return [
            ...(isNative(name)
              ? []
              : [invalid(key, name, 'must be a node allocatable resource name')]),
            ...(compareQuantities(quantity, '0') < 0
              ? [invalid(key, quantity, 'must be non-negative')]
              : []),
          ];
        }),
      ];
    },
  );
}
