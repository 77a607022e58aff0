// A selector as kubectl takes it.
import type { Service } from '../kinds/service/types.ts';

export function selectorText({ spec }: Service): string {
  return Object.entries(spec.selector ?? {})
    .map((entry) => entry.join('='))
    .join(',');
}
