import type { ServiceCheck } from '../check.ts';
import { listText, objectName, objectText } from '../object-names.ts';
import { workloadsFor } from '../workloads.ts';

export const workloadAtZero: ServiceCheck = {
  code: 'FL0104',
  severity: 'warning',
  title: 'The workload is scaled to zero',
  scope: 'service',
  needs: ['services', 'pods', 'deployments', 'replicaSets'],
  explains: ['FL01', 'FL02', 'FL03', 'FL04', 'FL09'],
  find({ hasSelector, pods, service, namespace, cluster }) {
    if (!hasSelector || pods().length > 0) return [];
    const workloads = workloadsFor(cluster, namespace, service.spec.selector ?? {});
    const [first] = workloads;
    if (first === undefined || workloads.some(({ spec }) => spec.replicas !== 0)) return [];
    return [
      {
        message: `There are no pods, because ${listText(workloads.map((one) => objectText(objectName(one))))} has 0 replicas`,
        evidence: workloads.map((one) => ({
          object: objectName(one),
          field: 'spec.replicas',
          value: '0',
        })),
        fix: {
          sentence: 'Scale the workload up',
          patch: { target: objectName(first), type: 'merge', body: { spec: { replicas: 1 } } },
        },
      },
    ];
  },
};
