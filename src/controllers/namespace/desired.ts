// Conditions of a terminating namespace, and when its content is checked again. Upstream:
// pkg/controller/namespace/deletion, whose messages these are.
import type { Namespace, NamespaceCondition } from '../../kinds/namespace/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';

/** Objects of a resource that remain after its collection was deleted. */
export type Remaining = {
  /** Plural name, such as `configmaps`. */
  readonly resource: string;
  readonly group: string;
  readonly count: number;
  /** Number of objects by finalizer. */
  readonly finalizers: Readonly<Record<string, number>>;
  /** The longest remaining grace period of pods. */
  readonly graceSeconds: number;
};

export type DeletionReport = {
  /** Why discovery failed or was incomplete. */
  readonly discoveryError?: string;
  /** Errors of deletions. */
  readonly contentErrors: readonly string[];
  readonly remaining: readonly Remaining[];
};

/** Assumed time until finalizers are done. */
const finalizerEstimateSeconds = 15;

type Problem = { readonly reason: string; readonly message: string };
type Check = {
  readonly type: string;
  readonly fine: Problem;
  readonly problem: (report: DeletionReport) => Problem | undefined;
};

const checks: readonly Check[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    fine: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    problem: ({ discoveryError }) =>
      discoveryError === undefined
        ? undefined
        : { reason: 'DiscoveryFailed', message: discoveryError },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    fine: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    // Our discovery client returns groups and versions as fields, so parsing cannot fail.
    problem: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    fine: {
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    problem: ({ contentErrors }) =>
      contentErrors.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${contentErrors.length} remaining: ${[...contentErrors].sort().join(', ')}`,
          },
  },
  {
    type: 'NamespaceContentRemaining',
    fine: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    problem: ({ remaining }) => {
      const texts = remaining
        .filter(({ count }) => count > 0)
        .map(
          ({ resource, group, count }) => `${resource}.${group} has ${count} resource instances`,
        );
      if (texts.length === 0) return undefined;
      return {
        reason: 'SomeResourcesRemain',
        message: `Some resources are remaining: ${texts.sort().join(', ')}`,
      };
    },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    fine: {
      reason: 'ContentHasNoFinalizers',
      message: 'All content-preserving finalizers finished',
    },
    problem: ({ remaining }) => {
      const texts = [...countFinalizers(remaining)].map(
        ([name, count]) => `${name} in ${count} resource instances`,
      );
      if (texts.length === 0) return undefined;
      return {
        reason: 'SomeFinalizersRemain',
        message: `Some content in the namespace has finalizers remaining: ${texts.sort().join(', ')}`,
      };
    },
  },
];

function countFinalizers(remaining: readonly Remaining[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { finalizers } of remaining) {
    for (const [name, count] of Object.entries(finalizers))
      counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
}

/** All conditions, updated; the same list when nothing changes. */
export function desiredConditions(
  current: readonly NamespaceCondition[],
  report: DeletionReport,
  now: number,
): readonly NamespaceCondition[] {
  const wanted = checks.map(({ type, fine, problem }) => {
    const found = problem(report);
    return { type, status: found === undefined ? 'False' : 'True', ...(found ?? fine) };
  });
  const isUnchanged = wanted.every((condition) =>
    current.some((other) => isSameCondition(condition, other)),
  );
  if (isUnchanged) return current;
  const others = current.filter(({ type }) => !wanted.some((condition) => condition.type === type));
  return [
    ...others,
    ...wanted.map((condition) => {
      const before = current.find(({ type }) => type === condition.type);
      const lastTransitionTime =
        before !== undefined && isSameCondition(condition, before)
          ? before.lastTransitionTime
          : formatTime(now);
      return { ...condition, lastTransitionTime };
    }),
  ];
}

type Comparable = Omit<NamespaceCondition, 'lastTransitionTime'>;

function isSameCondition(a: Comparable, b: Comparable): boolean {
  return (
    a.type === b.type && a.status === b.status && a.reason === b.reason && a.message === b.message
  );
}

/** Seconds after which what remains may be gone; 0 when nothing remains. */
export function estimateSeconds({ remaining }: DeletionReport): number {
  const estimates = remaining.map(({ graceSeconds, finalizers }) =>
    graceSeconds > 0
      ? graceSeconds
      : Object.keys(finalizers).length > 0
        ? finalizerEstimateSeconds
        : 0,
  );
  return Math.max(0, ...estimates);
}

/** Half of the estimate, because content may be gone earlier. */
export function retryAfterMs(estimateSeconds: number): number {
  return (Math.floor(estimateSeconds / 2) + 1) * 1000;
}

export function withoutFinalizer({ spec }: Namespace, finalizer: string): readonly string[] {
  return (spec.finalizers ?? []).filter((name) => name !== finalizer);
}

export type PodEnd = KubeObject & {
  readonly spec?: { readonly terminationGracePeriodSeconds?: number };
  readonly status?: { readonly phase?: string };
};

/** The longest grace period of a pod that still runs; 0 once that has passed since the namespace was deleted. */
export function podGraceSeconds(pods: readonly PodEnd[], deletedMs: number, now: number): number {
  const periods = pods
    .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    .map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0);
  const maxSeconds = Math.max(0, ...periods);
  return now - deletedMs >= maxSeconds * 1000 ? 0 : maxSeconds;
}
