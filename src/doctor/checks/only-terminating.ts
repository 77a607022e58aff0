import type { ServiceCheck } from '../check.ts';
import { countText, listText, objectName } from '../object-names.ts';

export const onlyTerminating: ServiceCheck = {
  code: 'FL0312',
  severity: 'error',
  title: 'All pods are being deleted',
  scope: 'service',
  needs: ['services', 'pods', 'endpointSlices'],
  isLiveOnly: true,
  explains: ['FL0313', 'FL04', 'FL09'],
  find(subject) {
    const pods = subject.pods();
    const isLeaving = pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (pods.length === 0 || !isLeaving) return [];
    const serving = subject.endpoints().filter((one) => one.isServing && one.isTerminating);
    const names = listText(pods.map(({ metadata }) => metadata.name ?? ''));
    const rest =
      serving.length > 0
        ? `, and proxies still use ${countText(serving.length, 'endpoint')} of them for lack of others`
        : ', and none of them serves any longer';
    return [
      {
        // Proxies fall back to them, so connections work for a while.
        severity: serving.length > 0 ? 'warning' : 'error',
        message: `All of ${countText(pods.length, 'pod')} (${names}) are being deleted${rest}`,
        evidence: pods.slice(0, 3).map((pod) => ({
          object: objectName(pod),
          field: 'metadata.deletionTimestamp',
          value: pod.metadata.deletionTimestamp ?? '',
        })),
        fix: { sentence: 'Start new pods; their workload was scaled down or deleted' },
      },
    ];
  },
};
