// Which rule of the pod failure policy a failed pod meets. Upstream: pkg/controller/job/pod_failure_policy.go.
import type { ExitCodePattern, Job, PodFailureRule } from '../../kinds/job/types.ts';
import type { ContainerStatus } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type FailureMatch = {
  /** Undefined: no rule matches. */
  readonly action?: string;
  /** Whether the failure counts towards the back-off limit. */
  readonly counts: boolean;
  /** Present where the job fails of it. */
  readonly message?: string;
};

export function matchFailurePolicy({ spec }: Job, pod: Pod): FailureMatch {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const why = whyMatches(rule, pod);
    if (why === undefined) continue;
    const { action } = rule;
    switch (action) {
      case 'Ignore':
        return { action, counts: false };
      case 'FailIndex':
      case 'Count':
        return { action, counts: true };
      case 'FailJob':
        return {
          action,
          counts: true,
          message: `${why} matching ${action} rule at index ${index}`,
        };
    }
  }
  return { counts: true };
}

function whyMatches(
  { onExitCodes, onPodConditions }: PodFailureRule,
  pod: Pod,
): string | undefined {
  const { namespace = '', name = '' } = pod.metadata;
  if (onExitCodes !== undefined) {
    const container = failedContainer(pod, onExitCodes);
    return container === undefined
      ? undefined
      : `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${container.state.terminated?.exitCode}`;
  }
  const condition = (onPodConditions ?? []).find((pattern) =>
    pod.status.conditions?.some(
      ({ type, status }) => type === pattern.type && status === pattern.status,
    ),
  );
  return condition === undefined
    ? undefined
    : `Pod ${namespace}/${name} has condition ${condition.type}`;
}

function failedContainer({ status }: Pod, pattern: ExitCodePattern): ContainerStatus | undefined {
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  return all.find(({ name, state }) => {
    const code = state.terminated?.exitCode ?? 0;
    if (code === 0 || (pattern.containerName ?? name) !== name) return false;
    const isListed = (pattern.values ?? []).includes(code);
    return pattern.operator === 'In' ? isListed : !isListed;
  });
}
