// Whether an eviction is within the disruption budget of the pod. Upstream: pkg/registry/core/pod/storage/eviction.go.
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { withoutDisruption } from '../../kinds/pod-disruption-budget/status.ts';
import type { PodDisruptionBudget } from '../../kinds/pod-disruption-budget/types.ts';
import { type ApiError, failure, forbidden } from '../../meta/api-error.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import type { ApiContext, WriteRequest } from '../context.ts';
import { updateObject } from '../objects/update-object.ts';

const budgets = 'poddisruptionbudgets.policy';

/** Evicted pods that are not confirmed to have gone yet; each takes a name and a time in the status. */
const maxDisruptedPods = 2000;
/** When a client should try again while the controller has not seen the budget. */
const retrySeconds = 10;

/** Undefined: no budget protects the pod. Throws 500 where several do. */
export function budgetOf(context: ApiContext, pod: Pod): PodDisruptionBudget | undefined {
  const { namespace = '', labels } = pod.metadata;
  const all = context.resources.reader.list(budgets, namespace) as readonly PodDisruptionBudget[];
  const [budget, ...others] = all.filter(({ spec }) =>
    matchesSelector(selectorFromLabelSelector(spec.selector), labels),
  );
  if (others.length > 0)
    throw failure({
      code: 500,
      message:
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  return budget;
}

/** A pod that is not ready does not count as available: evicting it may disrupt nothing. */
export function mayEvictUnready(pod: Pod, { spec, status }: PodDisruptionBudget): boolean {
  if (isPodReady(pod)) return false;
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  return status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
}

/**
 * Takes one disruption off the budget, or throws why there is none. Evictions at the same time cannot both get the last one: the
 * write fails where another was faster, and is decided again.
 */
export async function takeDisruption(
  context: ApiContext,
  { budget, pod, write }: { budget: PodDisruptionBudget; pod: Pod; write: WriteRequest },
): Promise<void> {
  const { name = '', namespace = '' } = budget.metadata;
  await updateObject(context, {
    resource: context.resources.of(budgets),
    namespace,
    name,
    subresource: 'status',
    rules: { validateUpdate: () => [] },
    desired(live) {
      const current = live as PodDisruptionBudget;
      requireDisruption(current);
      return withoutDisruption(current, pod.metadata.name ?? '', write.now);
    },
    needsVersion: false,
    checksUid: false,
    write,
    // The server changes it, for no field manager.
    recordManagers: (_live, object) => object,
  });
}

function requireDisruption({ metadata, status }: PodDisruptionBudget): void {
  const { name = '', generation = 0 } = metadata;
  const { disruptionsAllowed, disruptedPods = {}, observedGeneration = 0 } = status;
  const refuse = (why: string): ApiError =>
    forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if (observedGeneration < generation) throw stillProcessed(name);
  if (disruptionsAllowed < 0) throw refuse('pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > maxDisruptedPods)
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (disruptionsAllowed === 0) throw tooMany(noneAllowed(name, status), undefined);
}

function noneAllowed(name: string, status: PodDisruptionBudget['status']): string {
  const failed = status.conditions?.find(
    ({ type, reason }) => type === 'DisruptionAllowed' && reason === 'SyncFailed',
  );
  if (failed !== undefined)
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${failed.message}`;
  return `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`;
}

/** The controller has not judged the budget as it is now. */
export function stillProcessed(name: string): ApiError {
  return tooMany(
    `The disruption budget ${name} is still being processed by the server.`,
    retrySeconds,
  );
}

function tooMany(cause: string, retryAfterSeconds: number | undefined): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}
