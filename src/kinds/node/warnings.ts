import { warningsForCIDR } from '../../meta/validate-ip.ts';
import type { Node } from './types.ts';

/** What is allowed in a node but of no use, or written in an odd way. */
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
