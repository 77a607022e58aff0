import { dns1123Label } from '../../meta/names.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { podSpecWarnings } from '../pod/warnings.ts';
import type { PodTemplateSpec } from './types.ts';

/** What is allowed in a workload but seldom meant. */
export function workloadWarnings(
  { name = '' }: ObjectMeta,
  template: PodTemplateSpec | undefined,
): readonly string[] {
  const wrong = name === '' ? [] : dns1123Label(name);
  const advice =
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return [
    ...(wrong.length === 0 ? [] : [`${advice}: [${wrong.join(' ')}]`]),
    ...(template === undefined ? [] : podSpecWarnings(template.spec, 'spec.template.spec')),
  ];
}
