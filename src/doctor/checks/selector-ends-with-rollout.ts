import type { ServiceCheck } from '../check.ts';
import { listText, objectName, objectText } from '../object-names.ts';
import type { Cluster } from '../subject.ts';
import { hasAll, type Workload, workloadOf } from '../workloads.ts';

export const selectorEndsWithRollout: ServiceCheck = {
  code: 'FL0108',
  severity: 'warning',
  title: 'The selector matches until the next rollout only',
  scope: 'service',
  needs: ['services', 'pods', 'deployments'],
  find(subject) {
    const { service, cluster, namespace } = subject;
    const selector = service.spec.selector ?? {};
    const [pod] = subject.pods();
    if (pod === undefined) return [];
    const { kind, name } = workloadOf(pod);
    const deployment =
      kind === 'Deployment' ? deploymentNamed(cluster, `${namespace}/${name}`) : undefined;
    if (deployment === undefined) return [];
    const labels = deployment.spec.template?.metadata?.labels ?? {};
    if (hasAll(labels, selector)) return [];
    const lost = Object.keys(selector).filter((key) => labels[key] !== selector[key]);
    const target = objectName(service);
    return [
      {
        message: `The pods that match are old ones: the template of ${objectText(objectName(deployment))} does not have ${listText(lost.map((key) => `${key}=${selector[key]}`))}, so new pods will not match`,
        evidence: lost.map((key) => ({
          object: objectName(deployment),
          field: `spec.template.metadata.labels[${key}]`,
          value: labels[key] ?? '(absent)',
        })),
        fix: {
          sentence: 'Select by labels of the template',
          patch: {
            target,
            type: 'merge',
            body: {
              spec: { selector: Object.fromEntries(lost.map((key) => [key, labels[key] ?? null])) },
            },
          },
        },
      },
    ];
  },
};

function deploymentNamed(cluster: Cluster, key: string): Workload | undefined {
  return cluster.once(deploymentsByKey).get(key);
}

function deploymentsByKey({ index }: Cluster): ReadonlyMap<string, Workload> {
  return new Map(
    index.snapshot.objects.deployments.map((one) => [
      `${one.metadata.namespace ?? ''}/${one.metadata.name ?? ''}`,
      one,
    ]),
  );
}
