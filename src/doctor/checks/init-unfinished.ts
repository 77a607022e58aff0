import type { ServiceCheck } from '../check.ts';
import { logsLine } from '../patch-command.ts';
import { unreadyPods } from '../unready-pods.ts';

export const initUnfinished: ServiceCheck = {
  code: 'FL0304',
  severity: 'error',
  title: 'An init container does not finish',
  scope: 'service',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: (subject) =>
    unreadyPods(subject, {
      cause: 'init',
      predicate: 'wait for an init container',
      fix: (pod, { container }) => ({
        sentence: 'Correct the init container, or what it waits for',
        command: logsLine(pod, container),
      }),
    }),
};
