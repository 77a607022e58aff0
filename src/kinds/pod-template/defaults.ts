import { defaultPodSpec } from '../pod/defaults.ts';
import type { PodTemplateSpec } from './types.ts';

export function defaultPodTemplate(template: PodTemplateSpec): PodTemplateSpec {
  return { ...template, spec: defaultPodSpec(template.spec) };
}
