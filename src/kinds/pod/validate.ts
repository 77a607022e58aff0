// Validation of pods on create, update and status update.
import { type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { Container } from './container.ts';
import { ephemeralContainerDiff } from './internal-form.ts';
import { isMirrorPod } from './mirror.ts';
import type { Pod } from './types.ts';
import { validatePodAnnotations, validatePodAnnotationsUpdate } from './validate-annotations.ts';
import { validatePodSpec } from './validate-spec.ts';
import { validateSpecUpdate } from './validate-spec-update.ts';

export function validatePodCreate(pod: Pod): readonly FieldError[] {
  const { ephemeralContainers = [], schedulingGates = [], nodeName = '' } = pod.spec;
  return [
    ...validatePod(pod),
    ...(ephemeralContainers.length > 0
      ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...(schedulingGates.length > 0 && nodeName !== ''
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
  ];
}

export function validatePodUpdate(before: Pod, after: Pod): readonly FieldError[] {
  return [
    ...validatePod(after, before),
    ...validatePodAnnotationsUpdate(before, after),
    ...validateSpecUpdate(before.spec, after.spec),
  ];
}

/** Each difference takes a millisecond, and a pod can have ten thousand containers. */
const maxShownChanges = 10;

/** Ephemeral containers are added through their subresource and are immutable. */
export function validateEphemeralUpdate(before: Pod, after: Pod): readonly FieldError[] {
  const field = 'spec.ephemeralContainers';
  if (isMirrorPod(before)) {
    return [forbidden('[]', 'static pods do not support ephemeral containers')];
  }
  let shown = 0;
  const present = new Map((after.spec.ephemeralContainers ?? []).map((c) => [c.name, c]));
  return [
    ...validatePod(after, before),
    ...validatePodAnnotationsUpdate(before, after),
    ...(before.spec.ephemeralContainers ?? []).flatMap((container) => {
      const now = present.get(container.name);
      const name = goQuote(container.name);
      if (now === undefined) {
        return [forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)];
      }
      if (deepEqual(now, container)) return [];
      const difference = shown < maxShownChanges ? ephemeralContainerDiff(container, now) : '';
      shown += 1;
      const detail = `existing ephemeral containers ${name} may not be changed\n${difference}`;
      return [forbidden(field, detail)];
    }),
  ];
}

/** `before` is the stored pod, if any. */
export function validatePod({ metadata, spec }: Pod, before?: Pod): readonly FieldError[] {
  const stored = before === undefined ? undefined : (before.metadata.annotations ?? {});
  return [
    ...validatePodAnnotations(metadata.annotations ?? {}, spec, 'metadata.annotations', stored),
    ...validatePodSpec(spec, 'spec'),
    ...validateTokenVolumes(spec),
    ...validateImages(spec.containers ?? [], 'spec.containers'),
    ...validateImages(spec.initContainers ?? [], 'spec.initContainers'),
  ];
}

/** A service account token requires a service account. */
function validateTokenVolumes({ serviceAccountName, volumes }: Pod['spec']): readonly FieldError[] {
  if (serviceAccountName) return [];
  const detail = 'must not be specified when serviceAccountName is not set';
  return (volumes ?? []).flatMap((volume, index) =>
    (volume.projected?.sources ?? []).flatMap((source, at) =>
      source.serviceAccountToken === undefined
        ? []
        : [
            forbidden(
              `spec.volumes[${index}].projected.sources[${at}].serviceAccountToken`,
              detail,
            ),
          ],
    ),
  );
}

/** Images of templates may have surrounding blanks, for compatibility. */
function validateImages(containers: readonly Container[], field: string): readonly FieldError[] {
  return containers.flatMap(({ image = '' }, index) =>
    image === image.trim()
      ? []
      : [
          invalid(
            `${field}[${index}].image`,
            image,
            'must not have leading or trailing whitespace',
          ),
        ],
  );
}
