import type { ServiceCheck } from '../check.ts';
import { logsLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const startupFails: ServiceCheck = {
  code: 'FL0307',
  severity: 'error',
  title: 'The startup probe fails',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'startup',
      predicate: 'have not passed the startup probe',
      fix: (pod, { container }) => ({
        sentence:
          'Give the program more time (failureThreshold times periodSeconds), or correct the probe',
        command: logsLine(pod, container),
      }),
    }),
};
