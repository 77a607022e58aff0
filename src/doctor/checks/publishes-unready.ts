import { isPodReady } from '../../kinds/pod/readiness.ts';
import { canAnswer } from '../../kinds/service/backends.ts';
import type { ServiceCheck } from '../check.ts';
import { countText, listText, objectName } from '../object-names.ts';
import { whyNotReady } from '../why-not-ready.ts';

export const publishesUnready: ServiceCheck = {
  code: 'FL0314',
  severity: 'warning',
  title: 'Connections go to pods that are not ready',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find(subject) {
    const { service, index } = subject;
    if (service.spec.publishNotReadyAddresses !== true) return [];
    const unready = subject.pods().filter((pod) => canAnswer(pod, true) && !isPodReady(pod));
    const [first] = unready;
    if (first === undefined) return [];
    const names = listText(unready.map(({ metadata }) => metadata.name ?? ''));
    const target = objectName(service);
    return [
      {
        // Members of a headless Service find each other before they are ready: that is what the field is for.
        severity: subject.hasClusterIP ? 'warning' : 'info',
        message: `publishNotReadyAddresses is set, so ${countText(unready.length, 'pod')} (${names}) ${unready.length === 1 ? 'gets' : 'get'} connections though not ready: ${whyNotReady(first, index)?.detail ?? ''}`,
        evidence: [
          { object: target, field: 'spec.publishNotReadyAddresses', value: 'true' },
          { object: objectName(first), field: 'status.conditions[Ready]', value: 'False' },
        ],
        ...(subject.hasClusterIP
          ? {
              fix: {
                sentence: 'Publish ready pods only; a second, headless Service can publish all',
                patch: {
                  target,
                  type: 'merge',
                  body: { spec: { publishNotReadyAddresses: false } },
                },
              },
            }
          : {}),
      },
    ];
  },
};
