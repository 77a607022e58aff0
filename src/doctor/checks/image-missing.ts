import type { ServiceCheck } from '../check.ts';
import { describeLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const imageMissing: ServiceCheck = {
  code: 'FL0303',
  severity: 'error',
  title: 'An image cannot be pulled',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'image',
      predicate: 'have no image',
      fix: (pod) => ({
        sentence:
          'Correct the name or tag of the image, or give the pods the secret for its registry',
        command: describeLine(pod),
      }),
    }),
};
