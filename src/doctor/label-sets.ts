// The label sets that the pods of a namespace have, without what distinguishes single pods and revisions of one workload: what selectors are compared
// with when they match nothing.

import type { Pod } from '../kinds/pod/types.ts';
import type { Labels } from '../meta/labels.ts';
import {
  completionIndexKey,
  controllerUidLabel,
  jobNameLabel,
  podIndexLabel,
  podTemplateGenerationLabel,
  revisionLabel,
  statefulPodLabel,
} from '../meta/well-known-labels.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

export type LabelSet = {
  readonly labels: Labels;
  readonly pods: number;
  /** One of them. */
  readonly pod: Pod;
};

/** Different for each pod or revision: no Service is meant to select by them. */
const ownLabels: ReadonlySet<string> = new Set([
  'pod-template-hash',
  revisionLabel,
  podTemplateGenerationLabel,
  statefulPodLabel,
  podIndexLabel,
  'job-name',
  'controller-uid',
  jobNameLabel,
  controllerUidLabel,
  completionIndexKey,
]);

/** Each Service without pods is compared with all of them. */
const maxSets = 200;
/** The sets of larger namespaces repeat. */
const maxPods = 20_000;

export function labelSetsIn(index: SnapshotIndex, namespace: string): readonly LabelSet[] {
  const sets = new Map<string, { labels: Labels; pods: number; pod: Pod }>();
  for (const pod of index.podsIn(namespace).slice(0, maxPods)) {
    const entries = Object.entries(pod.metadata.labels ?? {})
      .filter(([key]) => !ownLabels.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) continue;
    const key = entries.map((entry) => entry.join('=')).join();
    const known = sets.get(key);
    if (known !== undefined) known.pods += 1;
    else if (sets.size < maxSets) {
      sets.set(key, { labels: Object.fromEntries(entries), pods: 1, pod });
    }
  }
  return [...sets.values()];
}
