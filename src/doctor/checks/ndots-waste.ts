import type { Pod } from '../../kinds/pod/types.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { type NamedHost, namedHosts } from '../named-hosts.ts';
import { countText, listText, objectName } from '../object-names.ts';
import type { Cluster } from '../subject.ts';

/** Of pods under the policy ClusterFirst. */
const defaultDots = 5;
/** Of the namespace, of all Services, of the cluster. */
const searchDomains = 3;

export const ndotsWaste: ClusterCheck = {
  code: 'FL0510',
  severity: 'info',
  title: 'Names outside of the cluster are looked up several times',
  scope: 'cluster',
  needs: ['pods'],
  find(cluster) {
    const byNamespace = new Map<string, NamedHost[]>();
    for (const one of namedHosts(cluster).filter((host) => isWasteful(cluster, host))) {
      const { namespace = '' } = one.pod.metadata;
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), one]);
    }
    return [...byNamespace].map(([namespace, hosts]) => symptom(namespace, hosts));
  },
};

/** With fewer dots than ndots, the search domains are tried first. */
function isWasteful({ settings }: Cluster, { pod, host }: NamedHost): boolean {
  const dots = host.split('.').length - 1;
  if (dots < 2 || host.endsWith('.') || host.endsWith('.svc')) return false;
  if (host.endsWith(`.${settings.domain.value}`)) return false;
  return dots < dotsOf(pod);
}

function dotsOf({ spec }: Pod): number {
  const { dnsPolicy = 'ClusterFirst', hostNetwork = false, dnsConfig } = spec;
  const option = dnsConfig?.options?.find(({ name }) => name === 'ndots')?.value;
  if (option !== undefined) return Number(option);
  return dnsPolicy === 'ClusterFirst' && !hostNetwork ? defaultDots : 1;
}

function symptom(namespace: string, hosts: readonly NamedHost[]): ClusterSymptom {
  const names = [...new Set(hosts.map(({ host }) => host))];
  const [first] = hosts;
  return {
    about: { kind: 'Namespace', name: namespace },
    message: `Each lookup of ${listText(names)} makes ${searchDomains} queries for names that do not exist first, because ${countText(names.length, 'name')} with fewer than ${defaultDots} dots are tried in the search domains`,
    evidence:
      first === undefined
        ? []
        : [{ object: objectName(first.pod), field: first.field, value: first.host }],
    fix: {
      sentence:
        'Write a dot at the end of the name, or set the option ndots to 2 in spec.dnsConfig of the pods',
    },
  };
}
