import type { Pod } from '../../kinds/pod/types.ts';
import { isRead } from '../../snapshot/snapshot.ts';
import type { ServiceCheck } from '../check.ts';
import { clientNodes } from '../nodes.ts';
import { countText, listText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const stuckTerminating: ServiceCheck = {
  code: 'FL0313',
  severity: 'warning',
  title: 'Pods that should be gone are still there',
  scope: 'service',
  needs: ['services', 'pods', 'nodes'],
  isLiveOnly: true,
  explains: ['FL0315'],
  find(subject) {
    const stuck = subject.pods().filter((pod) => isOverdue(pod, subject.cluster.nowMs));
    const [first] = stuck;
    if (first === undefined) return [];
    const names = listText(stuck.map(({ metadata }) => metadata.name ?? ''));
    const { reason, command } = reasonOf(first, subject);
    return [
      {
        message: `The grace period of ${countText(stuck.length, 'pod')} (${names}) is over, but ${reason}`,
        evidence: stuck.slice(0, 3).map((pod) => ({
          object: objectName(pod),
          field: 'metadata.deletionTimestamp',
          value: pod.metadata.deletionTimestamp ?? '',
        })),
        fix: { sentence: 'Remove what holds the pod; see why before you force it', command },
      },
    ];
  },
};

/** Nodes report with a delay, and clocks differ. */
const allowanceMs = 60_000;

/** The timestamp is the end of the grace period. */
function isOverdue({ metadata }: Pod, nowMs: number): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + allowanceMs < nowMs;
}

function reasonOf(pod: Pod, { index }: ServiceSubject): { reason: string; command: string } {
  const { name = '', namespace = 'default', finalizers = [] } = pod.metadata;
  const describe = `kubectl describe pod ${name} -n ${namespace}`;
  if (finalizers.length > 0) {
    return { reason: `finalizers hold it: ${listText(finalizers)}`, command: describe };
  }
  const node = pod.spec.nodeName ?? '';
  const isNodeUp = clientNodes(index).some(({ metadata }) => metadata.name === node);
  if (node !== '' && isRead(index.snapshot, 'nodes') && !isNodeUp) {
    return {
      reason: `its node ${node} is gone or does not report, so the pod is never removed`,
      command: `kubectl delete pod ${name} -n ${namespace} --force --grace-period=0`,
    };
  }
  return { reason: `its node ${node} has not removed it`, command: describe };
}
