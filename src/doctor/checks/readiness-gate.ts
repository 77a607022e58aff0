import type { ServiceCheck } from '../check.ts';
import { describeLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const readinessGate: ServiceCheck = {
  code: 'FL0308',
  severity: 'error',
  title: 'A readiness gate is not true',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'gate',
      predicate: 'wait for a readiness gate',
      fix: (pod) => ({
        sentence: 'Start the program that sets the condition, or remove the gate from the template',
        command: describeLine(pod),
      }),
    }),
};
