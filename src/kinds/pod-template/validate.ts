// Templates of workloads that keep their pods running.
import { validateAnnotations } from '../../meta/annotations.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../../meta/field-error.ts';
import { matchesSelector, type Selector, validateLabels } from '../../meta/labels.ts';
import { validatePodAnnotations } from '../pod/validate-annotations.ts';
import { validatePodSpec } from '../pod/validate-spec.ts';
import type { PodTemplateSpec } from './types.ts';

type Owner = {
  /** Kind that the texts name. */
  readonly kind: string;
  readonly selector: Selector;
};

/** A template must make pods that its workload selects and that can run for ever. */
export function validateOwnedTemplate(
  template: PodTemplateSpec,
  owner: Owner,
  field: string,
): readonly FieldError[] {
  const { labels } = template.metadata;
  const { restartPolicy, activeDeadlineSeconds } = template.spec;
  return [
    ...(matchesSelector(owner.selector, labels)
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

function validatePodTemplate(
  { metadata, spec }: PodTemplateSpec,
  field: string,
): readonly FieldError[] {
  return [
    // The paths lack `metadata`, as upstream's do.
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
