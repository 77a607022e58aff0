import type { ServiceCheck } from '../check.ts';
import { describeLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const containerNotConfigured: ServiceCheck = {
  code: 'FL0306',
  severity: 'error',
  title: 'A container cannot be created',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'configuration',
      predicate: 'cannot be created',
      fix: (pod) => ({
        sentence:
          'Create what the container refers to, such as a ConfigMap or a Secret, or correct the name',
        command: describeLine(pod),
      }),
    }),
};
