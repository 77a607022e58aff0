import { warningsForIP } from '../../meta/validate-ip.ts';
import { ingressClassAnnotation } from '../../meta/well-known-annotations.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { Ingress } from './types.ts';

/** Deprecated forms. */
export const ingressWarnings = ({ metadata }: Ingress): readonly string[] =>
  metadata.annotations?.[ingressClassAnnotation] === undefined
    ? []
    : [
        `annotation ${goQuote(ingressClassAnnotation)} is deprecated, please use 'spec.ingressClassName' instead`,
      ];

export function ingressStatusWarnings(_before: Ingress, { status }: Ingress): readonly string[] {
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip }, index) =>
    ip ? warningsForIP(`status.loadBalancer.ingress[${index}]`, ip) : [],
  );
}
