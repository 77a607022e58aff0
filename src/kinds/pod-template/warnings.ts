import { dns1123Label } from '../../meta/names.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { templateWarnings } from '../pod/warnings.ts';
import type { PodTemplateSpec } from './types.ts';

const templatePath = 'spec.template.';

/** Warnings about the pod template. */
export function workloadWarnings(
  metadata: ObjectMeta,
  template: PodTemplateSpec | undefined,
): readonly string[] {
  return [
    ...nameWarnings(metadata),
    ...(template === undefined ? [] : templateWarnings(template, templatePath)),
  ];
}

/** Names of pods begin with the name of their workload. */
export function nameWarnings({ name = '' }: ObjectMeta): readonly string[] {
  const wrong = name === '' ? [] : dns1123Label(name);
  const advice =
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return wrong.length === 0 ? [] : [`${advice}: [${wrong.join(' ')}]`];
}

type Workload = {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly template?: PodTemplateSpec };
};

/** On updates only when the generation changes: a change of labels does not repeat old warnings. */
export function workloadUpdateWarnings(before: Workload, after: Workload): readonly string[] {
  const { template } = after.spec;
  if (template === undefined || before.metadata.generation === after.metadata.generation) return [];
  return templateWarnings(template, templatePath);
}
