import type { ServiceCheck, Symptom } from '../check.ts';
import type { LabelMiss, NearMiss } from '../nearest-labels.ts';
import { nearestLabels } from '../nearest-labels.ts';
import { countText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const selectorNearMiss: ServiceCheck = {
  code: 'FL0101',
  severity: 'error',
  title: 'The selector just misses the pods',
  scope: 'service',
  needs: ['services', 'pods'],
  explains: ['FL01', 'FL02', 'FL03', 'FL04', 'FL09'],
  find(subject) {
    if (!subject.hasSelector || subject.pods().length > 0) return [];
    const selector = subject.service.spec.selector ?? {};
    const near = nearestLabels(selector, subject.cluster.labelSetsIn(subject.namespace));
    return near === undefined ? [] : [symptom(subject, near)];
  },
};

function symptom({ service }: ServiceSubject, { set, misses, change }: NearMiss): Symptom {
  const [first] = misses;
  const pods = countText(set.pods, 'pod');
  const target = objectName(service);
  return {
    message: `The selector matches no pod: it says ${misses.map(missText).join(' and ')} (${pods})`,
    evidence: misses.flatMap(({ key, value, has }) => [
      { object: target, field: `spec.selector[${key}]`, value },
      {
        object: objectName(set.pod),
        field: `metadata.labels[${has?.key ?? key}]`,
        value: has?.value ?? '(absent)',
      },
    ]),
    fix: {
      sentence:
        first?.has === undefined
          ? 'Remove the label that the pods do not have from the selector'
          : 'Write the label as the pods have it',
      patch: { target, type: 'merge', body: { spec: { selector: change } } },
    },
  };
}

function missText({ key, value, has }: LabelMiss): string {
  if (has === undefined) return `${key}=${value}, but the pods have no label ${key}`;
  return `${key}=${value}, but the pods have ${has.key}=${has.value}`;
}
