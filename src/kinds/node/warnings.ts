import { warningsForCIDR } from '../../meta/validate-ip.ts';
import type { Node } from './types.ts';

/** Valid but useless or non-canonical values. */
export function nodeWarnings({ spec }: Node): readonly string[] {
  const { configSource, externalID, podCIDRs = [] } = spec;
  return [
    ...(configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...(externalID
      ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes']
      : []),
    ...podCIDRs.flatMap((cidr, index) => warningsForCIDR(`spec.podCIDRs[${index}]`, cidr)),
  ];
}
