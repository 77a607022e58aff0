// How long the pods of a namespace may still take to end.
import type { KubeObject } from '../../meta/object.ts';

export type PodEnd = KubeObject & {
  readonly spec?: { readonly terminationGracePeriodSeconds?: number };
  readonly status?: { readonly phase?: string };
};

/** The longest grace period of a pod that still runs; 0 once that has passed since the namespace was deleted. */
export function podGraceSeconds(pods: readonly PodEnd[], deletedMs: number, now: number): number {
  const periods = pods
    .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    .map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0);
  const longest = Math.max(0, ...periods);
  return now - deletedMs >= longest * 1000 ? 0 : longest;
}
