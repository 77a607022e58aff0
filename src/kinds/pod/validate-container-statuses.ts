// Identity and devices in container statuses.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../meta/field-error.ts';
import type { Container } from './container.ts';
import { validateId } from './field-rules.ts';
import type { ContainerStatus } from './pod-status.ts';
import type { Pod } from './types.ts';

const healths = ['Healthy', 'Unhealthy', 'Unknown'];
/** In bytes. */
const maxHealthMessage = 1024;
const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

export function validateContainerStatuses({ spec, status }: Pod): readonly FieldError[] {
  const each = (
    list: (typeof lists)[number],
    check: (status: ContainerStatus, at: string) => readonly FieldError[],
  ) => (status[list] ?? []).flatMap((one, index) => check(one, `status.${list}[${index}]`));
  const byName = (containers: readonly Container[] | null | undefined) =>
    new Map([...(containers ?? [])].reverse().map((container) => [container.name, container]));
  const containers = byName(spec.containers);
  const initContainers = byName(spec.initContainers);
  return [
    ...lists.flatMap((list) => each(list, (one, at) => validateUser(one, spec.os?.name, at))),
    ...each('containerStatuses', (one, at) => validateDevices(one, containers.get(one.name), at)),
    ...each('initContainerStatuses', (one, at) =>
      validateDevices(one, initContainers.get(one.name), at),
    ),
    ...each('ephemeralContainerStatuses', ({ allocatedResourcesStatus = [] }, at) =>
      allocatedResourcesStatus.length === 0
        ? []
        : [
            forbidden(
              `${at}.allocatedResourcesStatus`,
              'must not be specified in container status',
            ),
          ],
    ),
  ];
}

function validateUser(
  { user }: ContainerStatus,
  system = 'linux',
  field: string,
): readonly FieldError[] {
  const at = `${field}.user.linux`;
  if (user?.linux === undefined) return [];
  if (system === 'windows') return [forbidden(at, 'cannot be set for a windows pod')];
  if (system !== 'linux') return [];
  const { uid, gid, supplementalGroups = [] } = user.linux;
  return [
    ...validateId(`${at}.uid`, uid),
    ...validateId(`${at}.gid`, gid),
    ...supplementalGroups.flatMap((group, index) =>
      validateId(`${at}.supplementalGroups[${index}]`, group),
    ),
  ];
}

/** Statuses of containers that the pod does not have are accepted. */
function validateDevices(
  { allocatedResourcesStatus = [] }: ContainerStatus,
  container: Container | undefined,
  field: string,
): readonly FieldError[] {
  if (allocatedResourcesStatus.length === 0) return [];
  const known = container === undefined ? undefined : resourcesOf(container);
  return allocatedResourcesStatus.flatMap(({ name, resources = [] }, index) => {
    const at = `${field}.allocatedResourcesStatus[${index}]`;
    const ids = new Set<string>();
    return [
      ...(known === undefined || known.has(name)
        ? []
        : [invalid(`${at}.name`, name, name.startsWith('claim:') ? noSuchClaim : noSuchRequest)]),
      ...resources.flatMap(({ resourceID, health = '', message }, position) => {
        const here = `${at}.resources[${position}]`;
        const isRepeated = ids.has(resourceID);
        ids.add(resourceID);
        return [
          ...(healths.includes(health) ? [] : [notSupported(`${here}.health`, health, healths)]),
          ...validateHealthMessage(message, `${here}.message`),
          ...(isRepeated ? [duplicate(`${here}.resourceID`, resourceID)] : []),
        ];
      }),
    ];
  });
}

const noSuchRequest = "must match one of the container's resource requests";
const noSuchClaim =
  "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";

/** Names of the container's claims that a status may refer to. */
function resourcesOf({ resources }: Container): ReadonlySet<string> {
  const claims = (resources.claims ?? []).map(({ name, request }) =>
    request ? `claim:${name}/${request}` : `claim:${name}`,
  );
  const requests = Object.keys(resources.requests ?? {}).filter((n) => !n.startsWith('claim:'));
  return new Set([...requests, ...claims]);
}

function validateHealthMessage(message: string | undefined, field: string): readonly FieldError[] {
  if (message === '') return [required(field, 'must be non-empty if specified')];
  return message !== undefined && Buffer.byteLength(message) > maxHealthMessage
    ? [tooLong(field, maxHealthMessage)]
    : [];
}
