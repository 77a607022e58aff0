import type { BrokenCase } from './case.ts';
import { event, node, pod, service, unreadyPod } from './example-objects.ts';

const waiting = (reason: string, message = ''): object => ({
  state: { waiting: { reason, message } },
});
const running = { state: { running: { startedAt: '2026-11-19T11:00:00Z' } }, started: true };
const probe = { httpGet: { path: '/', port: 8080 } };

export const brokenPods: readonly BrokenCase[] = [
  {
    name: 'a readiness probe',
    objects:
      service() +
      unreadyPod(running, { container: { readinessProbe: probe } }) +
      event('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503'),
    code: 'FL0301',
    says: 'statuscode: 503',
  },
  {
    name: 'a readiness probe of one pod of two',
    objects:
      service() +
      unreadyPod(running, { container: { readinessProbe: probe } }) +
      pod({ metadata: { name: 'web-2' } }),
    code: 'FL0301',
  },
  {
    name: 'a crash loop',
    objects:
      service() +
      unreadyPod({
        ...waiting('CrashLoopBackOff', 'back-off 5m0s'),
        restartCount: 7,
        lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
      }),
    code: 'FL0302',
    says: 'exit code 137 (OOMKilled), 7 restarts',
    fix: 'kubectl logs web-1 -n default -c app --previous',
  },
  {
    name: 'an image with a typo',
    objects: service() + unreadyPod(waiting('ImagePullBackOff', 'Back-off pulling image "ngnix"')),
    code: 'FL0303',
    says: 'ngnix',
  },
  {
    name: 'an init container that fails',
    objects:
      service() +
      unreadyPod(waiting('PodInitializing'), {
        spec: { initContainers: [{ name: 'migrate', image: 'a' }] },
        status: {
          initContainerStatuses: [
            {
              name: 'migrate',
              ready: false,
              restartCount: 3,
              image: 'a',
              imageID: '',
              state: { waiting: { reason: 'CrashLoopBackOff' } },
              lastState: { terminated: { exitCode: 1, reason: 'Error' } },
            },
          ],
        },
      }),
    code: 'FL0304',
    says: 'init container migrate: ended with exit code 1',
  },
  {
    name: 'no room on any node',
    objects:
      service() +
      pod({
        status: {
          phase: 'Pending',
          conditions: [
            {
              type: 'PodScheduled',
              status: 'False',
              reason: 'Unschedulable',
              message: '0/3 nodes are available: 3 Insufficient cpu.',
            },
          ],
        },
      }),
    code: 'FL0305',
    says: 'Insufficient cpu',
  },
  {
    name: 'a Secret that is not there',
    objects:
      service() + unreadyPod(waiting('CreateContainerConfigError', 'secret "web" not found')),
    code: 'FL0306',
    says: 'secret "web" not found',
  },
  {
    name: 'a startup probe',
    objects:
      service() +
      unreadyPod({ ...running, started: false }, { container: { startupProbe: probe } }) +
      event('Unhealthy', 'Startup probe failed: connection refused'),
    code: 'FL0307',
    says: 'connection refused',
  },
  {
    name: 'a readiness gate',
    objects:
      service() +
      unreadyPod(
        { ...running, ready: true },
        {
          spec: { readinessGates: [{ conditionType: 'lb.example.com/healthy' }] },
          status: {
            conditions: [
              { type: 'ContainersReady', status: 'True' },
              { type: 'Ready', status: 'False' },
            ],
          },
        },
      ),
    code: 'FL0308',
    says: 'lb.example.com/healthy',
  },
  {
    name: 'a node that does not report',
    objects:
      service() +
      unreadyPod({ ...running, ready: true }) +
      node('n1', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }),
    code: 'FL0309',
  },
  {
    name: 'a volume that cannot be mounted',
    objects:
      service() +
      unreadyPod(waiting('ContainerCreating')) +
      event('FailedMount', 'MountVolume.SetUp failed for volume "conf"'),
    code: 'FL0310',
    says: 'volume "conf"',
  },
  {
    name: 'a probe of a port that is not declared',
    objects:
      service() +
      unreadyPod(running, { container: { readinessProbe: { httpGet: { port: 'htpp' } } } }),
    code: 'FL0311',
    says: 'it never succeeds',
  },
  {
    name: 'all pods on their way out',
    objects:
      service() +
      pod({
        metadata: { deletionTimestamp: '2026-11-19T12:00:20Z', deletionGracePeriodSeconds: 30 },
      }),
    code: 'FL0312',
  },
  {
    name: 'a pod of a node that is gone',
    objects:
      service() +
      pod() +
      pod({
        metadata: { name: 'web-2', deletionTimestamp: '2026-11-19T10:00:00Z' },
        spec: { nodeName: 'n2' },
        status: { phase: 'Running', podIP: '10.244.9.9' },
      }),
    code: 'FL0313',
    fix: '--force',
  },
  {
    name: 'unready pods that are published',
    objects:
      service({ spec: { publishNotReadyAddresses: true } }) +
      unreadyPod(running, { container: { readinessProbe: probe } }),
    code: 'FL0314',
  },
  {
    name: 'a pod on a node without an object',
    objects: service() + pod({ spec: { nodeName: 'n7' } }) + node('n1'),
    code: 'FL0315',
  },
];
