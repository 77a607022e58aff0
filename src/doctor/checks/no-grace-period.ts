import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const noGracePeriod: ServiceCheck = {
  code: 'FL0316',
  severity: 'info',
  title: 'Pods end before proxies know',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const pod = subject
      .pods()
      .find(
        (one) =>
          !isPodFinished(one) &&
          (one.spec.terminationGracePeriodSeconds ?? minSeconds) < minSeconds,
      );
    if (pod === undefined || !subject.hasClusterIP) return [];
    const seconds = pod.spec.terminationGracePeriodSeconds ?? 0;
    return [
      {
        message: `Pods have ${seconds} s between the start of their deletion and their end: proxies need longer to stop using them, so every rollout breaks connections`,
        evidence: [
          {
            object: objectName(pod),
            field: 'spec.terminationGracePeriodSeconds',
            value: String(seconds),
          },
        ],
        fix: {
          sentence:
            'Allow the pods 30 seconds, and let the program finish what it has begun when it gets SIGTERM',
        },
      },
    ];
  },
};

/** Endpoints reach all nodes within a few seconds. */
const minSeconds = 3;
