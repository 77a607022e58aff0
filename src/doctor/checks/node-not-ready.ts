import type { ServiceCheck } from '../check.ts';
import { unreadyPods } from '../unready-pods.ts';

export const nodeNotReady: ServiceCheck = {
  code: 'FL0309',
  severity: 'error',
  title: 'The node of the pods is not ready',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'node',
      predicate: 'are on a node that does not report',
      fix: () => ({
        sentence: 'Bring the node back, or delete it so that its pods are replaced',
        command: 'kubectl get nodes',
      }),
    }),
};
