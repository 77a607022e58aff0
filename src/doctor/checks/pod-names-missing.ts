import type { Pod } from '../../kinds/pod/types.ts';
import { isHeadless } from '../../kinds/service/needs.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { similarWord } from '../edit-distance.ts';
import { isRefused, mayHaveOtherPods } from '../manifest-facts.ts';
import { objectName, objectText } from '../object-names.ts';
import type { Cluster } from '../subject.ts';
import { workloadOf } from '../workloads.ts';

export const podNamesMissing: ClusterCheck = {
  code: 'FL0512',
  severity: 'warning',
  title: 'Pods have no names of their own, because their Service is not there',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find(cluster) {
    const seen = new Set<string>();
    return cluster.index.snapshot.objects.pods.flatMap((pod) => {
      const { namespace = '', deletionTimestamp } = pod.metadata;
      const { subdomain = '' } = pod.spec;
      if (subdomain === '' || deletionTimestamp !== undefined) return [];
      const { kind, name } = workloadOf(pod);
      const key = `${namespace} ${kind} ${name} ${subdomain}`;
      if (!cluster.isInScope(namespace) || seen.has(key)) return [];
      seen.add(key);
      return symptoms(cluster, pod, subdomain);
    });
  },
};

function symptoms(cluster: Cluster, pod: Pod, subdomain: string): readonly ClusterSymptom[] {
  const { index, manifests } = cluster;
  const { namespace = '', labels } = pod.metadata;
  const service = index.service(namespace, subdomain);
  const own = objectName(pod);
  const { kind, name } = workloadOf(pod);
  const owner = objectText({ kind, namespace, name });
  const evidence = [{ object: own, field: 'spec.subdomain', value: subdomain }];
  if (service === undefined) {
    const isElsewhere =
      manifests !== undefined &&
      (isRefused(manifests, { kind: 'Service', namespace, name: subdomain }) ||
        mayHaveOtherPods(manifests, namespace) ||
        index.servicesIn(namespace).length === 0);
    if (isElsewhere) return [];
    const names = index.servicesIn(namespace).flatMap(({ metadata }) => metadata.name ?? []);
    const similar = similarWord(subdomain, names);
    const hint = similar === undefined ? '' : `; there is "${similar}"`;
    return [
      {
        about: own,
        message: `Names such as ${pod.spec.hostname ?? 'POD'}.${subdomain} do not resolve: ${owner} has them from Service "${subdomain}", which is not there${hint}`,
        evidence,
        fix: {
          sentence: `Create the headless Service "${subdomain}": a StatefulSet cannot change its serviceName`,
        },
      },
    ];
  }
  if (index.selecting(namespace, labels).includes(subdomain) && isHeadless(service)) return [];
  const why = isHeadless(service)
    ? 'whose selector does not match its pods'
    : 'which is not headless';
  return [
    {
      about: own,
      severity: 'info',
      message: `Names such as ${pod.spec.hostname ?? 'POD'}.${subdomain} do not resolve: ${owner} has them from Service "${subdomain}", ${why}`,
      evidence,
    },
  ];
}
