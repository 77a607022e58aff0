import type { ServiceCheck } from '../check.ts';
import { describeLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const podUnscheduled: ServiceCheck = {
  code: 'FL0305',
  severity: 'error',
  title: 'No node takes the pods',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'unscheduled',
      predicate: 'have no node',
      fix: (pod) => ({
        sentence:
          'Make room on a node, or let the pods need less: resources, node selectors, affinity, tolerations',
        command: describeLine(pod),
      }),
    }),
};
