import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { appNameKeys, appPartKeys } from '../app-labels.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { containerPortsOf, portText } from '../container-ports.ts';
import { listText, objectName } from '../object-names.ts';
import { selectorText } from '../selector-text.ts';
import type { ServiceSubject } from '../subject.ts';
import { workloadOf } from '../workloads.ts';

export const selectsSeveralApps: ServiceCheck = {
  code: 'FL0107',
  severity: 'warning',
  title: 'The selector matches the pods of several applications',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const pods = subject.pods().filter((pod) => !isPodFinished(pod));
    const byWorkload = new Map<string, Pod>();
    for (const pod of pods) {
      const { kind, name } = workloadOf(pod);
      byWorkload.set(`${kind} ${name}`, pod);
    }
    if (byWorkload.size < 2) return [];
    const examples = [...byWorkload.values()];
    const key =
      appNameKeys.find((one) => differ(examples, one)) ??
      // The parts of one application know each other by a headless Service.
      (subject.hasClusterIP && haveOtherImages(examples)
        ? appPartKeys.find((one) => differ(examples, one))
        : undefined);
    if (key !== undefined) return [symptom(subject, examples, key)];
    const jobs = jobsBesides(subject, examples);
    return jobs.length > 0 ? jobs : withoutPort(subject, examples);
  },
};

const labelOf = ({ metadata }: Pod, key: string): string => metadata.labels?.[key] ?? '';

/** All have the label, with different values. */
function differ(pods: readonly Pod[], key: string): boolean {
  const values = pods.map((pod) => labelOf(pod, key));
  return !values.includes('') && new Set(values).size > 1;
}

/** Versions of one program differ by their tags only. */
function haveOtherImages(pods: readonly Pod[]): boolean {
  const programs = pods.map((pod) =>
    (pod.spec.containers ?? []).map(({ image = '' }) => withoutTag(image)).join(),
  );
  return new Set(programs).size > 1;
}

function withoutTag(image: string): string {
  const [name = ''] = image.split('@');
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  return colon === -1 ? name : name.slice(0, colon);
}

function symptom({ service }: ServiceSubject, examples: readonly Pod[], key: string): Symptom {
  const values = [...new Set(examples.map((pod) => labelOf(pod, key)))];
  const target = objectName(service);
  const own = values.find((value) => value === service.metadata.name) ?? values[0] ?? '';
  return {
    message: `Connections go to different applications: the selector ${selectorText(service)} matches pods with ${key}=${listText(values)}`,
    evidence: examples.slice(0, 4).map((pod) => ({
      object: objectName(pod),
      field: `metadata.labels[${key}]`,
      value: labelOf(pod, key),
    })),
    fix: {
      sentence: 'Add the label that distinguishes them to the selector',
      patch: { target, type: 'merge', body: { spec: { selector: { [key]: own } } } },
    },
  };
}

/** Workers that have the labels of the server: other programs, which do not declare the port that the server declares. */
function withoutPort(
  { service, hasClusterIP }: ServiceSubject,
  examples: readonly Pod[],
): readonly Symptom[] {
  if (!hasClusterIP || !haveOtherImages(examples)) return [];
  return (service.spec.ports ?? []).flatMap(({ port, targetPort = port }) => {
    if (typeof targetPort !== 'number') return [];
    const declares = (pod: Pod): boolean =>
      containerPortsOf(pod).some(({ number }) => number === (targetPort || port));
    const others = examples.filter((pod) => !declares(pod));
    if (others.length === 0 || others.length === examples.length) return [];
    const names = others.map((pod) => `${workloadOf(pod).kind} ${workloadOf(pod).name}`);
    return [
      {
        message: `Connections also go to pods of ${listText(names)}, which the selector ${selectorText(service)} matches, though they do not declare port ${targetPort}`,
        evidence: others.slice(0, 3).map((pod) => ({
          object: objectName(pod),
          field: 'spec.containers[*].ports',
          value: containerPortsOf(pod).map(portText).join(', ') || '(none)',
        })),
        fix: { sentence: 'Give the pods of each program a label of their own, and select by it' },
      },
    ];
  });
}

/** Pods of a Job get connections for as long as they are ready, though they serve nothing. */
function jobsBesides({ service }: ServiceSubject, examples: readonly Pod[]): readonly Symptom[] {
  const jobs = examples.filter((pod) => workloadOf(pod).kind === 'Job');
  if (jobs.length === 0 || jobs.length === examples.length) return [];
  return [
    {
      message: `Connections also go to pods of ${listText(jobs.map((pod) => `job ${workloadOf(pod).name}`))}, which the selector ${selectorText(service)} matches`,
      evidence: jobs.slice(0, 3).map((pod) => ({
        object: objectName(pod),
        field: 'metadata.ownerReferences',
        value: `Job ${workloadOf(pod).name}`,
      })),
      fix: { sentence: 'Give the pods of the job other labels, or the selector one more' },
    },
  ];
}
