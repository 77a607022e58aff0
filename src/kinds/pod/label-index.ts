// An index of pods by label, so that a selector does not have to be compared with every pod of the namespace.
import type { Labels } from '../../meta/labels.ts';
import type { Pod } from './types.ts';

/** Name of the index. */
export const podLabelIndex = 'namespace and label';

/** Index keys of a pod: one for each label. */
export function podLabels({ metadata }: Pod): readonly string[] {
  return Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    filedUnder(metadata.namespace ?? '', key, value),
  );
}

type PodView = {
  readonly select: (index: string, value: string) => readonly Pod[];
  readonly count: (index: string, value: string) => number;
};

/** The pods of the namespace that match the selector, which must not be empty. */
export function selectPods(view: PodView, namespace: string, selector: Labels): readonly Pod[] {
  const wanted = Object.entries(selector);
  let rarest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const [key, value] of wanted) {
    const filed = filedUnder(namespace, key, value);
    const count = view.count(podLabelIndex, filed);
    if (count < fewest) [rarest, fewest] = [filed, count];
  }
  if (rarest === undefined) return [];
  return view
    .select(podLabelIndex, rarest)
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
}

function filedUnder(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}
