import type { ClusterCheck } from '../check.ts';
import { serviceNamed } from '../cluster-names.ts';
import { namedHosts } from '../named-hosts.ts';
import { listText, objectName } from '../object-names.ts';

export const hostOfOtherNamespace: ClusterCheck = {
  code: 'FL0507',
  severity: 'warning',
  title: 'A pod names a Service of another namespace without the namespace',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find(cluster) {
    const elsewhere = namespacesByName(cluster.index.snapshot.objects.services);
    return namedHosts(cluster).flatMap(({ pod, host, field, value }) => {
      const { namespace = '' } = pod.metadata;
      if (host.includes('.') || isAlias(pod, host)) return [];
      const others = elsewhere.get(host) ?? [];
      if (others.length === 0 || serviceNamed(cluster, host, namespace)?.service !== undefined)
        return [];
      const [only = ''] = others;
      return [
        {
          about: objectName(pod),
          message: `The pod connects to "${host}", and namespace ${namespace} has no such Service; there is one in ${listText(others)}`,
          evidence: [{ object: objectName(pod), field, value: cut(value) }],
          fix: { sentence: `Write ${host}.${only}` },
        },
      ];
    });
  },
};

type Named = { readonly metadata: { readonly name?: string; readonly namespace?: string } };

function namespacesByName(services: readonly Named[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { metadata } of services) {
    const { name = '', namespace = '' } = metadata;
    const list = found.get(name) ?? [];
    list.push(namespace);
    found.set(name, list);
  }
  return found;
}

type WithAliases = {
  readonly spec: { readonly hostAliases?: readonly { readonly hostnames?: readonly string[] }[] };
};

const isAlias = ({ spec }: WithAliases, host: string): boolean =>
  spec.hostAliases?.some(({ hostnames }) => hostnames?.includes(host)) === true;

/** Values may hold passwords in URLs. */
function cut(value: string): string {
  return value.replace(/\/\/[^@/]{1,200}@/, '//…@').slice(0, 100);
}
