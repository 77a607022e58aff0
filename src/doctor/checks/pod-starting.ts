import type { ServiceCheck } from '../check.ts';
import { describeLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const podStarting: ServiceCheck = {
  code: 'FL0310',
  severity: 'warning',
  title: 'The pods have not started yet',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'starting',
      predicate: 'have not started',
      partial: 'info',
      none: 'warning',
      fix: (pod) => ({
        sentence: 'Wait; the events of the pod say what it waits for',
        command: describeLine(pod),
      }),
    }),
};
