import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { ServiceCheck } from '../check.ts';
import { countText, listText, objectName } from '../object-names.ts';

export const podsFinished: ServiceCheck = {
  code: 'FL0106',
  severity: 'error',
  title: 'The selector matches only pods that have finished',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  explains: ['FL01', 'FL02', 'FL03', 'FL04', 'FL09'],
  find(subject) {
    const pods = subject.pods();
    if (pods.length === 0 || !pods.every(isPodFinished)) return [];
    const names = listText(pods.map(({ metadata }) => metadata.name ?? ''));
    const phases = [...new Set(pods.map(({ status }) => status.phase ?? ''))];
    return [
      {
        message: `All of ${countText(pods.length, 'pod')} (${names}) ended as ${listText(phases)}: such pods never get ready again`,
        evidence: pods.slice(0, 3).map((pod) => ({
          object: objectName(pod),
          field: 'status.phase',
          value: pod.status.phase ?? '',
        })),
        fix: {
          sentence: 'Run the program as a Deployment, or select the pods that still run',
        },
      },
    ];
  },
};
