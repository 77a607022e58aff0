// Pod templates of workloads with restartPolicy Always.
import { validateAnnotations } from '../../meta/annotations.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../../meta/field-error.ts';
import { matchesSelector, type Selector, validateLabels } from '../../meta/labels.ts';
import { validatePodAnnotations } from '../pod/validate-annotations.ts';
import { validatePodSpec } from '../pod/validate-spec.ts';
import type { PodTemplateSpec } from './types.ts';

type Owner = {
  /** Kind in the messages. */
  readonly kind: string;
  /** Absent: it is invalid, and nothing can be said of what it matches. */
  readonly selector?: Selector;
};

/** The template's labels must match the selector, and its pods must be restarted always. */
export function validateOwnedTemplate(
  template: PodTemplateSpec,
  owner: Owner,
  field: string,
): readonly FieldError[] {
  const { labels } = template.metadata;
  const { restartPolicy, activeDeadlineSeconds } = template.spec;
  return [
    ...(owner.selector === undefined || matchesSelector(owner.selector, labels)
      ? []
      : [
          invalid(
            `${field}.metadata.labels`,
            labels,
            '`selector` does not match template `labels`',
          ),
        ]),
    ...validatePodTemplate(template, field),
    ...(restartPolicy === 'Always'
      ? []
      : [notSupported(`${field}.spec.restartPolicy`, restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [
          forbidden(
            `${field}.spec.activeDeadlineSeconds`,
            `activeDeadlineSeconds in ${owner.kind} is not Supported`,
          ),
        ]),
  ];
}

/** Whatever its pods are restarted after. */
export function validatePodTemplate(
  { metadata, spec }: PodTemplateSpec,
  field: string,
): readonly FieldError[] {
  return [
    // Upstream's paths lack `metadata`.
    ...validateLabels(metadata.labels, `${field}.labels`),
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validatePodAnnotations(metadata.annotations ?? {}, spec, `${field}.annotations`),
    ...validatePodSpec(spec, `${field}.spec`, { isTemplate: true }),
    ...((spec.ephemeralContainers ?? []).length === 0
      ? []
      : [
          forbidden(
            `${field}.spec.ephemeralContainers`,
            'ephemeral containers not allowed in pod template',
          ),
        ]),
  ];
}
