// Mutable fields of a pod's spec: images, activeDeadlineSeconds, added tolerations, removed scheduling gates.
import { type FieldError, forbidden, invalid, required } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Toleration } from './affinity.ts';
import type { Container } from './container.ts';
import { podSpecDiff } from './internal-form.ts';
import type { PodSpec } from './pod-spec.ts';
import {
  isGated,
  restoredPlacement,
  validatePlacementUpdate,
} from './validate-placement-update.ts';

const maxDeadlineSeconds = 2 ** 31 - 1;
const paddedImage = 'must not have leading or trailing whitespace';
const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

export function validateSpecUpdate(before: PodSpec, after: PodSpec): readonly FieldError[] {
  const containers = validateImages(before.containers ?? [], after.containers ?? [], 'containers');
  if (containers.stop) return containers.errors;
  const init = validateImages(
    before.initContainers ?? [],
    after.initContainers ?? [],
    'initContainers',
  );
  const images = [...containers.errors, ...init.errors];
  if (init.stop) return images;
  const deadline = validateDeadlineUpdate(before, after);
  if (deadline.length > 0 && after.activeDeadlineSeconds !== undefined) {
    return [...images, ...deadline];
  }
  return [
    ...images,
    ...deadline,
    ...validateTolerationUpdate(before.tolerations ?? [], after.tolerations ?? []),
    ...validateGateUpdate(before, after),
    ...(isGated(before) ? validatePlacementUpdate(before, after) : []),
    ...validateRest(before, after),
  ];
}

function validateImages(
  before: readonly Container[],
  after: readonly Container[],
  list: string,
): { readonly errors: readonly FieldError[]; readonly stop: boolean } {
  const field = `spec.${list}`;
  if (before.length !== after.length) {
    const errors = [forbidden(field, 'pod updates may not add or remove containers')];
    return { errors, stop: true };
  }
  const errors = after.flatMap(({ image = '' }, index) => {
    if (image === '') return [required(`${field}[${index}].image`)];
    return image === image.trim() ? [] : [invalid(`${field}[${index}].image`, image, paddedImage)];
  });
  return { errors, stop: false };
}

function validateDeadlineUpdate(before: PodSpec, after: PodSpec): readonly FieldError[] {
  const field = 'spec.activeDeadlineSeconds';
  const was = before.activeDeadlineSeconds;
  const is = after.activeDeadlineSeconds;
  if (is === undefined) {
    return was === undefined
      ? []
      : [invalid(field, undefined, 'must not update from a positive integer to nil value')];
  }
  if (is < 0 || is > maxDeadlineSeconds) {
    return [invalid(field, is, `must be between 0 and ${maxDeadlineSeconds}, inclusive`)];
  }
  return was !== undefined && was < is
    ? [invalid(field, is, 'must be less than or equal to previous value')]
    : [];
}

/** Only tolerationSeconds of an existing toleration may change. */
function validateTolerationUpdate(
  before: readonly Toleration[],
  after: readonly Toleration[],
): readonly FieldError[] {
  const core = ({ key, operator, value, effect }: Toleration): string =>
    JSON.stringify([key, operator, value, effect]);
  const left = new Set(after.map(core));
  const hasAll = before.every((was) => left.has(core(was)));
  return hasAll
    ? []
    : [
        forbidden(
          'spec.tolerations',
          'existing toleration can not be modified except its tolerationSeconds',
        ),
      ];
}

function validateGateUpdate(before: PodSpec, after: PodSpec): readonly FieldError[] {
  const known = new Set((before.schedulingGates ?? []).map(({ name }) => name));
  return (after.schedulingGates ?? []).flatMap(({ name }, index) =>
    known.has(name)
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

/** Everything else must be unchanged. */
function validateRest(before: PodSpec, after: PodSpec): readonly FieldError[] {
  const munged = restored(before, after);
  if (deepEqual(munged, before)) return [];
  const detail = `pod updates may not change fields other than ${changeable.join(',')}\n${podSpecDiff(before, munged)}`;
  return [forbidden('spec', detail)];
}

/** The new spec with the previous values of mutable fields. */
function restored(before: PodSpec, after: PodSpec): PodSpec {
  const keep = <K extends keyof PodSpec>(key: K): Pick<PodSpec, K> | object =>
    before[key] === undefined ? {} : { [key]: before[key] };
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    initContainers,
    ...rest
  } = after;
  return {
    ...rest,
    containers: withImages(after.containers ?? [], before.containers ?? []),
    ...(initContainers === undefined
      ? {}
      : { initContainers: withImages(initContainers, before.initContainers ?? []) }),
    ...keep('activeDeadlineSeconds'),
    ...keep('tolerations'),
    ...keep('schedulingGates'),
    ...(isGated(before) ? restoredPlacement(before, after) : {}),
    ...((before.terminationGracePeriodSeconds ?? 0) < 0 && after.terminationGracePeriodSeconds === 1
      ? keep('terminationGracePeriodSeconds')
      : {}),
  };
}

function withImages(
  after: readonly Container[],
  before: readonly Container[],
): readonly Container[] {
  return after.map((container, index) => {
    const { image: _image, ...rest } = container;
    const image = before[index]?.image;
    return image === undefined ? rest : { ...rest, image };
  });
}
