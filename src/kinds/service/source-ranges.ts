// Source ranges of a load balancer.
import { sourceRangesAnnotation } from '../../meta/well-known-annotations.ts';
import type { Service } from './types.ts';

/** Without surrounding blanks. The annotation counts only where the field is empty (API-27). Empty: no restriction. */
export function sourceRangesOf(service: Service): readonly string[] {
  const ranges = service.spec.loadBalancerSourceRanges ?? [];
  return ranges.length > 0 ? ranges.map((range) => range.trim()) : annotatedRanges(service);
}

export function annotatedRanges({ metadata }: Service): readonly string[] {
  const text = metadata.annotations?.[sourceRangesAnnotation]?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((range) => range.trim());
}
