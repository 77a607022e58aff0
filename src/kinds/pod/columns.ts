// Columns of `kubectl get pods`.
import type { Column, RowCondition } from '../definition.ts';
import { ageColumn, nameColumn, timeSince } from '../metadata-columns.ts';
import { podCondition } from './readiness.ts';
import { summarizePod } from './summary.ts';
import type { Pod } from './types.ts';

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'The aggregate readiness state of this pod for accepting traffic.',
    cell: (pod) => {
      const { ready, containers } = summarizePod(pod);
      return `${ready}/${containers}`;
    },
  },
  {
    name: 'Status',
    type: 'string',
    description: 'The aggregate status of the containers in this pod.',
    cell: (pod) => summarizePod(pod).reason,
  },
  {
    name: 'Restarts',
    type: 'string',
    description:
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    cell: (pod, now) => {
      const { restarts, lastRestart } = summarizePod(pod);
      return restarts === 0 || lastRestart === ''
        ? String(restarts)
        : `${restarts} (${timeSince(lastRestart, now)} ago)`;
    },
  },
  ageColumn,
  {
    name: 'IP',
    type: 'string',
    priority: 1,
    description:
      'podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.',
    cell: ({ status }) => status.podIPs?.[0]?.ip || '<none>',
  },
  {
    name: 'Node',
    type: 'string',
    priority: 1,
    description:
      'NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename',
    cell: ({ spec }) => spec.nodeName || '<none>',
  },
  {
    name: 'Nominated Node',
    type: 'string',
    priority: 1,
    description:
      'nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.',
    cell: ({ status }) => status.nominatedNodeName || '<none>',
  },
  {
    name: 'Readiness Gates',
    type: 'string',
    priority: 1,
    description:
      'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
    cell: readinessGates,
  },
];

function readinessGates(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => podCondition(pod, gate.conditionType)?.status === 'True');
  return `${open.length}/${gates.length}`;
}

const ended: Readonly<Record<string, RowCondition>> = {
  Succeeded: {
    type: 'Completed',
    status: 'True',
    reason: 'Succeeded',
    message: 'The pod has completed successfully.',
  },
  Failed: { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
};

/** A finished pod shows its phase. */
export function podRowConditions({ status }: Pod): readonly RowCondition[] {
  const { phase = '' } = status;
  const condition = Object.hasOwn(ended, phase) ? ended[phase] : undefined;
  return condition === undefined ? [] : [condition];
}
