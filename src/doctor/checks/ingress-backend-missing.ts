import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { similarWord } from '../edit-distance.ts';
import { type IngressUse, ingressUses } from '../ingress-uses.ts';
import { isRefused } from '../manifest-facts.ts';
import { objectName } from '../object-names.ts';
import type { Cluster } from '../subject.ts';

export const ingressBackendMissing: ClusterCheck = {
  code: 'FL0610',
  severity: 'error',
  title: 'An Ingress names a Service that is not there',
  scope: 'cluster',
  needs: ['services', 'ingresses'],
  find(cluster) {
    return ingressUses(cluster)
      .filter(({ namespace, service }) => cluster.index.service(namespace, service) === undefined)
      .filter((use) => isExpected(cluster, use))
      .map((use) => symptom(cluster, use));
  },
};

/** Not of manifests without any Service of that namespace: they stand elsewhere. */
function isExpected({ manifests, index }: Cluster, { namespace, service }: IngressUse): boolean {
  if (manifests === undefined) return true;
  const isThere = isRefused(manifests, { kind: 'Service', namespace, name: service });
  return !isThere && index.servicesIn(namespace).length > 0;
}

function symptom({ index }: Cluster, use: IngressUse): ClusterSymptom {
  const { ingress, namespace, service, field } = use;
  const names = index.servicesIn(namespace).flatMap(({ metadata }) => metadata.name ?? []);
  const similar = similarWord(service, names);
  const elsewhere = index.snapshot.objects.services.find(
    ({ metadata }) => metadata.name === service,
  );
  const hint =
    similar !== undefined
      ? `; there is "${similar}"`
      : elsewhere === undefined
        ? ''
        : `; there is one in namespace ${elsewhere.metadata.namespace}, which an Ingress cannot use`;
  return {
    about: objectName(ingress),
    message: `Requests for ${use.requests} fail: namespace ${namespace} has no Service "${service}"${hint}`,
    evidence: [{ object: objectName(ingress), field: `${field}.name`, value: service }],
    fix: {
      sentence:
        similar === undefined
          ? `Create the Service "${service}" in namespace ${namespace}`
          : `Name the Service "${similar}"`,
    },
  };
}
