import type { ServiceCheck } from '../check.ts';
import { countText, listText, objectName } from '../object-names.ts';
import { selectorText } from '../selector-text.ts';
import type { Cluster } from '../subject.ts';

export const podsInOtherNamespace: ServiceCheck = {
  code: 'FL0103',
  severity: 'error',
  title: 'The pods are in another namespace',
  scope: 'service',
  needs: ['services', 'pods'],
  explains: ['FL01', 'FL02', 'FL03', 'FL04', 'FL09'],
  find({ hasSelector, pods, service, namespace, index, cluster }) {
    if (!hasSelector || pods().length > 0) return [];
    const selector = service.spec.selector ?? {};
    const others = cluster
      .once(podNamespaces)
      .filter((other) => other !== namespace && index.podsWith(other, selector).length > 0);
    const [first] = others;
    if (first === undefined) return [];
    const found = index.podsWith(first, selector);
    const [pod] = found;
    if (pod === undefined) return [];
    const name = service.metadata.name ?? '';
    return [
      {
        message: `No pod of namespace ${namespace} has ${selectorText(service)}, but ${countText(found.length, 'pod')} of namespace ${listText(others)} ${found.length === 1 ? 'has' : 'have'}: a selector does not reach other namespaces`,
        evidence: [
          { object: objectName(service), field: 'spec.selector', value: selectorText(service) },
          { object: objectName(pod), field: 'metadata.namespace', value: first },
        ],
        fix: {
          sentence: `Create the Service in namespace ${first}; clients of namespace ${namespace} then use the name ${name}.${first}`,
        },
      },
    ];
  },
};

/** More are not searched. */
const maxNamespaces = 1000;

function podNamespaces({ index }: Cluster): readonly string[] {
  const names = new Set<string>();
  for (const { metadata } of index.snapshot.objects.pods) names.add(metadata.namespace ?? '');
  return [...names].sort().slice(0, maxNamespaces);
}
