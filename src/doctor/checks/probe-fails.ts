import type { ServiceCheck } from '../check.ts';
import { logsLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const probeFails: ServiceCheck = {
  code: 'FL0301',
  severity: 'error',
  title: 'The readiness probe fails',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'probe',
      predicate: 'fail the readiness probe',
      fix: (pod, { container }) => ({
        sentence: 'Correct the program or its probe; the log of the container says more',
        command: logsLine(pod, container),
      }),
    }),
};
