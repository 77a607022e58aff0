// The resize subresource: which resources of a running pod may change, and how.
import { type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Container } from './container.ts';
import { isMirrorPod } from './mirror.ts';
import type { PodSpec } from './pod-spec.ts';
import { isRestartableInitContainer } from './ports.ts';
import { onlyManagersOf } from './prepare.ts';
import { qualityOfService } from './quality-of-service.ts';
import { type ResourceList, type ResourceRequirements, resizableResources } from './resources.ts';
import type { Pod } from './types.ts';
import { validatePod } from './validate.ts';

const containerLists = ['containers', 'initContainers'] as const;
type ContainerList = (typeof containerLists)[number];

/** Takes only resources and resize policies. */
export function preparePodResize(before: Pod, after: Pod): Pod {
  const { resources: _resources, initContainers: _init, ...spec } = before.spec;
  const { resources } = after.spec;
  const initContainers = resized(before, after, 'initContainers');
  return {
    ...after,
    metadata: onlyManagersOf(before, after),
    spec: {
      ...spec,
      containers: resized(before, after, 'containers'),
      ...(initContainers.length === 0 ? {} : { initContainers }),
      ...(resources === undefined ? {} : { resources }),
    },
    status: before.status,
  };
}

/** Added or removed containers stay as sent, so that validation rejects them. */
function resized(before: Pod, after: Pod, list: ContainerList): readonly Container[] {
  const old = before.spec[list] ?? [];
  const sent = after.spec[list] ?? [];
  const areSame = sent.length === old.length && sent.every((c, i) => c.name === old[i]?.name);
  if (!areSame) return sent;
  return sent.map(({ resources, resizePolicy }, index) => {
    const { resizePolicy: _before, ...container } = old[index] as Container;
    return { ...container, resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) };
  });
}

/** In upstream's order. */
export function validatePodResize(before: Pod, after: Pod): readonly FieldError[] {
  if (isMirrorPod(before)) return [forbidden('[]', 'static pods cannot be resized')];
  if (before.spec.os?.name === 'windows')
    return [forbidden('[]', 'windows pods cannot be resized')];
  const general = [
    ...validatePod(after, before),
    ...validateQualityOfService(before, after),
    ...validateNodeSupport(before),
    ...validatePodResources(before.spec.resources, after.spec.resources),
    ...validateClaims(before),
  ];
  const order = containerLists.flatMap((list) => validateSameContainers(before, after, list));
  if (order.length > 0) return [...general, ...order];
  return [
    ...general,
    ...containersOf(before.spec, after.spec, 'initContainers').flatMap(validateRemoval),
    ...containersOf(before.spec, after.spec, 'containers').flatMap(validateRemoval),
    ...containersOf(before.spec, after.spec, 'containers').flatMap(validateOthers),
    ...containersOf(before.spec, after.spec, 'initContainers').flatMap(validateInitOthers),
  ];
}

function validateQualityOfService({ spec, status }: Pod, after: Pod): readonly FieldError[] {
  const { qosClass = '' } = status;
  if ((qosClass || qualityOfService(spec)) === qualityOfService(after.spec)) return [];
  return [invalid('spec', qosClass, 'Pod QOS Class may not change as a result of resizing')];
}

/** A node that supports resizing reports the resources in force for its running containers. */
function validateNodeSupport({ status }: Pod): readonly FieldError[] {
  const running = (status.containerStatuses ?? []).find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined
    ? []
    : [forbidden('spec', 'Pod running on node without support for resize')];
}

function validatePodResources(
  before: ResourceRequirements | undefined,
  after: ResourceRequirements | undefined,
): readonly FieldError[] {
  if (!hasQuantities(before) && !hasQuantities(after)) return [];
  const field = 'spec.resources';
  if (before !== undefined && after === undefined) {
    return [forbidden(field, 'pod-level resources cannot be removed')];
  }
  const isOther = !deepEqual(unsized(after), unsized(before));
  return [
    ...(isRemoved(before?.requests, after?.requests)
      ? [forbidden(`${field}.requests`, 'pod-level resource requests cannot be removed')]
      : []),
    ...(isRemoved(before?.limits, after?.limits)
      ? [forbidden(`${field}.limits`, 'pod-level resource limits cannot be removed')]
      : []),
    ...(isOther
      ? [forbidden('spec', 'only cpu and memory resources are mutable at pod-level')]
      : []),
  ];
}

const hasQuantities = (resources: ResourceRequirements | undefined): boolean =>
  Object.keys({ ...resources?.requests, ...resources?.limits }).length > 0;

function validateClaims({ status }: Pod): readonly FieldError[] {
  return (status.nodeAllocatableResourceClaimStatuses ?? []).length === 0
    ? []
    : [forbidden('spec', 'pods with node allocatable resource claims cannot be resized')];
}

function validateSameContainers(
  before: Pod,
  after: Pod,
  list: ContainerList,
): readonly FieldError[] {
  const old = before.spec[list] ?? [];
  const now = after.spec[list] ?? [];
  if (old.length !== now.length) {
    return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  }
  return old.flatMap(({ name }, index) =>
    name === now[index]?.name
      ? []
      : [
          forbidden(
            `spec.${list}[${index}].name`,
            `${list} may not be renamed or reordered on resize`,
          ),
        ],
  );
}

type Change = { readonly before: Container; readonly after: Container; readonly field: string };

function containersOf(before: PodSpec, after: PodSpec, list: ContainerList): readonly Change[] {
  return (before[list] ?? []).flatMap((container, index) => {
    const now = after[list]?.[index];
    const field = `spec.${list}[${index}]`;
    return now === undefined ? [] : [{ before: container, after: now, field }];
  });
}

function validateRemoval({ before, after, field }: Change): readonly FieldError[] {
  const { requests, limits } = after.resources;
  return [
    ...(isRemoved(before.resources.requests, requests)
      ? [forbidden(`${field}.resources.requests`, 'resource requests cannot be removed')]
      : []),
    ...(isRemoved(before.resources.limits, limits)
      ? [forbidden(`${field}.resources.limits`, 'resource limits cannot be removed')]
      : []),
  ];
}

const isRemoved = (before: ResourceList = {}, after: ResourceList = {}): boolean =>
  Object.keys(before).some((name) => after[name] === undefined);

function validateOthers(change: Change): readonly FieldError[] {
  return isOnlyResized(change)
    ? []
    : [forbidden('spec', 'only cpu and memory resources are mutable')];
}

function validateInitOthers(change: Change): readonly FieldError[] {
  const { before, after, field } = change;
  const isRestarted = (after.resizePolicy ?? []).some(
    ({ restartPolicy }) => restartPolicy === 'RestartContainer',
  );
  const detail = 'only cpu and memory resources for init or sidecar containers are mutable';
  return [
    ...(isOnlyResized(change) ? [] : [forbidden(field, detail)]),
    ...(!isRestartableInitContainer(after) && isRestarted && !deepEqual(before, after)
      ? [forbidden(field, restartedInit)]
      : []),
  ];
}

const restartedInit =
  'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';

function isOnlyResized({ before, after }: Change): boolean {
  const rest = (container: Container) => ({
    ...container,
    resources: unsized(container.resources),
  });
  return deepEqual(rest(before), rest(after));
}

/** Without the mutable resources; empty lists count as absent. */
function unsized(resources: ResourceRequirements | undefined): object {
  const { limits, requests, ...others } = resources ?? {};
  const left = (list: ResourceList = {}) =>
    Object.entries(list).filter(([name]) => !resizableResources.some((one) => one === name));
  return {
    ...others,
    limits: Object.fromEntries(left(limits)),
    requests: Object.fromEntries(left(requests)),
  };
}
