import type { ClusterCheck } from '../check.ts';
import { type NamedService, serviceNamed } from '../cluster-names.ts';
import { similarWord } from '../edit-distance.ts';
import { isRefused, mayHaveOtherPods } from '../manifest-facts.ts';
import { namedHosts } from '../named-hosts.ts';
import { objectName } from '../object-names.ts';
import type { Cluster } from '../subject.ts';

export const hostMissing: ClusterCheck = {
  code: 'FL0508',
  severity: 'warning',
  title: 'A pod names a Service that is not there',
  scope: 'cluster',
  needs: ['services', 'pods', 'namespaces'],
  find(cluster) {
    const similarTo = similarServices(cluster);
    return namedHosts(cluster).flatMap(({ pod, host, field }) => {
      const { namespace = '' } = pod.metadata;
      const named = serviceNamed(cluster, host, namespace);
      if (named === undefined || named.service !== undefined) return [];
      const similar = similarTo(named);
      // A name without the domain of the cluster may be a host of another network.
      const isCertain = host.endsWith('.svc') || host.endsWith(`.${cluster.settings.domain.value}`);
      if (similar === undefined && !isCertain) return [];
      if (!isExpected(cluster, named, similar)) return [];
      const hint = similar === undefined ? '' : `; there is "${similar}"`;
      return [
        {
          about: objectName(pod),
          message: `The pod connects to ${host}, and namespace ${named.namespace} has no Service "${named.name}"${hint}`,
          evidence: [{ object: objectName(pod), field, value: host }],
          fix: {
            sentence:
              similar === undefined
                ? 'Create the Service, or correct the name'
                : `Write ${host.replace(named.name, similar)}`,
          },
        },
      ];
    });
  },
};

/** For more names of large namespaces the search would take longer than all other checks. */
const maxComparisons = 2_000_000;

/** The Service that could have been meant, for each name once. */
function similarServices({ index }: Cluster): (named: NamedService) => string | undefined {
  const known = new Map<string, string | undefined>();
  let comparisons = 0;
  return ({ namespace, name }) => {
    const key = `${namespace}/${name}`;
    if (known.has(key)) return known.get(key);
    const services = index.servicesIn(namespace);
    comparisons += services.length;
    if (comparisons > maxComparisons) return undefined;
    const names = services.flatMap(({ metadata }) => metadata.name ?? []);
    const similar = similarWord(name, names);
    known.set(key, similar);
    return similar;
  };
}

/** Manifests rarely have all Services that their pods use, and operators make some. */
function isExpected(
  { manifests }: Cluster,
  { namespace, name }: NamedService,
  similar: string | undefined,
): boolean {
  if (manifests === undefined) return true;
  const isMissing = similar !== undefined && !mayHaveOtherPods(manifests, namespace);
  return isMissing && !isRefused(manifests, { kind: 'Service', namespace, name });
}
