import type { ServiceCheck } from '../check.ts';
import { logsLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const crashLoop: ServiceCheck = {
  code: 'FL0302',
  severity: 'error',
  title: 'A container ends again and again',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'crash',
      predicate: 'do not stay up',
      fix: (pod, { container }) => ({
        sentence:
          'Correct the program or its configuration; the log of the container that ended says more',
        command: logsLine(pod, container, true),
      }),
    }),
};
