import type { ServiceCheck } from '../check.ts';
import { lastEvent } from '../last-event.ts';
import { countText, objectName, objectText } from '../object-names.ts';
import { type Workload, workloadsFor } from '../workloads.ts';

export const workloadMakesNoPods: ServiceCheck = {
  code: 'FL0105',
  severity: 'error',
  title: 'The workload cannot create its pods',
  scope: 'service',
  needs: ['services', 'pods', 'deployments', 'replicaSets'],
  isLiveOnly: true,
  explains: ['FL01', 'FL02', 'FL03', 'FL04', 'FL09'],
  find({ hasSelector, pods, service, namespace, cluster, index }) {
    if (!hasSelector || pods().length > 0) return [];
    const workloads = workloadsFor(cluster, namespace, service.spec.selector ?? {});
    const first = workloads.find(({ spec }) => spec.replicas !== 0);
    if (first === undefined) return [];
    const object = objectName(first);
    const failure = failureOf(first);
    const event = lastEvent(index, first, { reasons: ['FailedCreate'] });
    const why = failure ?? event?.message ?? 'no controller has created any';
    return [
      {
        message: `${objectText(object)} wants ${countText(first.spec.replicas ?? 1, 'pod')} and has none: ${why}`,
        evidence: [
          { object, field: 'spec.replicas', value: String(first.spec.replicas ?? 1) },
          { object, field: 'status.conditions[ReplicaFailure]', value: failure ?? '(absent)' },
        ],
        fix: {
          sentence:
            'Remove what refuses the pods, such as a quota or an admission policy; the events of its ReplicaSets say more',
          command: `kubectl get events -n ${namespace} --field-selector reason=FailedCreate`,
        },
      },
    ];
  },
};

function failureOf({ status }: Workload): string | undefined {
  return status?.conditions?.find(
    ({ type, status: is }) => type === 'ReplicaFailure' && is === 'True',
  )?.message;
}
