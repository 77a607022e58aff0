import type { ServiceCheck } from '../check.ts';
import type { LabelSet } from '../label-sets.ts';
import { mayHaveOtherPods } from '../manifest-facts.ts';
import { countText, objectName } from '../object-names.ts';
import { selectorText } from '../selector-text.ts';
import type { ServiceSubject } from '../subject.ts';
import { workloadOf } from '../workloads.ts';

export const selectorMatchesNothing: ServiceCheck = {
  code: 'FL0102',
  severity: 'error',
  title: 'The selector matches no pod',
  scope: 'service',
  needs: ['services', 'pods'],
  explains: ['FL01', 'FL02', 'FL03', 'FL04', 'FL09'],
  find(subject) {
    if (!subject.hasSelector || subject.pods().length > 0) return [];
    const { service, namespace, cluster, index } = subject;
    const unselected = cluster
      .labelSetsIn(namespace)
      .filter(({ labels }) => index.selecting(namespace, labels).length === 0);
    const object = objectName(service);
    const [only] = unselected;
    const { manifests } = cluster;
    // Manifests rarely have everything: the pods may be in other files, or made by an operator. Pods of Jobs are no sign of it.
    const isKnown =
      manifests === undefined ||
      (unselected.some(({ pod }) => workloadOf(pod).kind !== 'Job') &&
        !mayHaveOtherPods(manifests, namespace));
    return [
      {
        message: `The selector matches no pod: none in namespace ${namespace} has ${selectorText(service)}${alternatives(subject, unselected)}`,
        evidence: [{ object, field: 'spec.selector', value: selectorText(service) }],
        ...(isKnown ? {} : { severity: 'info' as const }),
        ...(only !== undefined && unselected.length === 1
          ? {
              fix: {
                sentence: `Select the pods that no Service selects`,
                patch: selectOnly(subject, only),
              },
            }
          : {}),
      },
    ];
  },
};

function alternatives(
  { cluster, namespace }: ServiceSubject,
  unselected: readonly LabelSet[],
): string {
  const [only] = unselected;
  if (only !== undefined && unselected.length === 1) {
    const text = Object.entries(only.labels).map((entry) => entry.join('='));
    return `; the only pods that no Service selects have ${text.join(',')}`;
  }
  const count = cluster.labelSetsIn(namespace).reduce((sum, { pods }) => sum + pods, 0);
  return count === 0
    ? '; it has no pods with labels'
    : ` (${countText(count, 'pod')} with other labels)`;
}

function selectOnly({ service }: ServiceSubject, { labels }: LabelSet) {
  const removed = Object.keys(service.spec.selector ?? {}).map((key) => [key, null]);
  const selector = { ...Object.fromEntries(removed), ...labels };
  return { target: objectName(service), type: 'merge', body: { spec: { selector } } } as const;
}
