// Gives pods that wait for a node one, as the scheduler would, and lets them run there, as the node agent would.
import type { NodeState } from '../controllers/scheduler/cluster.ts';
import { type Placement, selectNode, waitsForNode } from '../controllers/scheduler/desired.ts';
import type { Namespace } from '../kinds/namespace/types.ts';
import { isNodeReady } from '../kinds/node/readiness.ts';
import type { Node } from '../kinds/node/types.ts';
import { withPodCondition } from '../kinds/pod/conditions.ts';
import { isPodFinished } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { formatTime } from '../schema/time.ts';
import { byController, type ObjectTable, type ValuesOf } from './object-table.ts';
import { createPodAddresses } from './pod-addresses.ts';
import { runningPod } from './running-pod.ts';

/** Value of the unfinished pods of a node. */
const onNode = (name: string): string => `node ${name}`;

export const podValues: ValuesOf<Pod> = (pod) => {
  const { nodeName } = pod.spec;
  return nodeName && !isPodFinished(pod)
    ? [...byController(pod), onNode(nodeName)]
    : byController(pod);
};

export type SchedulingOptions = {
  readonly now: number;
  readonly nodes: readonly Node[];
  readonly namespaces: readonly Namespace[];
  /** Indexed by podValues. */
  readonly pods: ObjectTable<Pod>;
  /** Pods that were there before: new ones get other addresses. */
  readonly earlier: readonly Pod[];
  /** Nodes that are made up take every pod. */
  readonly fitsAnywhere: boolean;
  /** Whether pods like this one have become ready so far. */
  readonly expectsReady: (pod: Pod) => boolean;
};

/** Puts the pod, with node and status as far as it gets, into the table. */
export type SchedulePod = (pod: Pod) => void;

export function createScheduling(options: SchedulingOptions): SchedulePod {
  const { now, nodes, pods, earlier, expectsReady } = options;
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? '', node]));
  const addresses = createPodAddresses([...pods.all(), ...earlier]);
  const choose = createChooser(options);
  const bind = (pod: Pod): Pod => {
    if (!waitsForNode(pod)) return pod;
    const placement = choose(pod);
    if ('node' in placement) return { ...pod, spec: { ...pod.spec, nodeName: placement.node } };
    return 'message' in placement ? unschedulable(pod, placement.message, now) : pod;
  };
  return (pod) => {
    const bound = bind(pod);
    const { nodeName = '' } = bound.spec;
    const node = byName.get(nodeName);
    const isStarting = node !== undefined && isNodeReady(node) && waitsForStart(bound);
    const after = isStarting
      ? runningPod(bound, {
          addresses: addresses(bound, { node, neighbours: pods.select(onNode(nodeName)) }),
          isReady: expectsReady(pod),
          now,
        })
      : bound;
    if (after !== pod) pods.put(after);
  };
}

/** No node has reported anything about it. */
export function waitsForStart({ metadata, spec, status }: Pod): boolean {
  return (
    Boolean(spec.nodeName) &&
    metadata.deletionTimestamp === undefined &&
    (status.phase ?? 'Pending') === 'Pending' &&
    !status.podIP &&
    (status.containerStatuses ?? []).length === 0
  );
}

function createChooser({
  nodes,
  namespaces,
  pods,
  fitsAnywhere,
}: SchedulingOptions): (pod: Pod) => Placement {
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels]));
  const namespaceLabels = (name: string) => labels.get(name);
  return (pod) => {
    const states: readonly NodeState[] = nodes.map((node) => ({
      node,
      pods: pods.select(onNode(node.metadata.name ?? '')),
    }));
    const placement = selectNode(pod, { nodes: states, namespaceLabels });
    if (!('message' in placement) || !fitsAnywhere) return placement;
    const [emptiest] = [...states].sort((a, b) => a.pods.length - b.pods.length);
    return { node: emptiest?.node.metadata.name ?? '' };
  };
}

/** As the scheduler reports it. */
function unschedulable(pod: Pod, message: string, now: number): Pod {
  const verdict = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
  } as const;
  const conditions = withPodCondition(pod.status.conditions, verdict, formatTime(now));
  return { ...pod, status: { ...pod.status, conditions } };
}
