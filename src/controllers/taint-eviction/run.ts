// Follows the taints of nodes, and evicts pods when their toleration expires.

import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import type { Clock } from '../../host/clock.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import type { Node, Taint } from '../../kinds/node/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { podNode, podNodeIndex } from '../../kinds/pod/node-index.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { objectKey } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { evictPod } from './apply.ts';
import { evictingTaints, evictionTime } from './desired.ts';
import { createEvictionMetrics, type EvictionMetrics } from './metrics.ts';

const concurrency = 8;

type Parts = {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly client: ResourceClient<Pod>;
  readonly recorder: EventRecorder;
  readonly metrics: EvictionMetrics;
  readonly clock: Clock;
  readonly firstSeen: TaintTimes;
  /** Pods with a scheduled eviction. */
  readonly scheduled: Set<string>;
};

export const taintEvictionController: Controller = {
  name: 'taint-eviction-controller',
  account: 'node-controller',
  watches: mayWatch(nodeDefinition, podDefinition),
  rights: [
    may('delete', podDefinition),
    may('patch', podDefinition, { subresource: 'status' }),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const parts = createParts(shared);
    const { nodes, pods, clock, firstSeen, scheduled } = parts;
    if (!(await waitForSync([nodes, pods], signal))) return;
    const reconcile = (key: string): Promise<ReconcileResult | undefined> => sync(parts, key);
    const { log, queueMetrics: metrics } = shared;
    const { queue, ended } = startReconciler(
      { name: 'noexec_taint_pod', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const taintsChanged = (node: Node): void => {
      firstSeen.update(node);
      for (const pod of pods.store.select(podNodeIndex, node.metadata.name ?? '')) {
        queue.add(objectKey(pod.metadata));
      }
    };
    const podChanged = (pod: Pod): void => {
      const key = objectKey(pod.metadata);
      const taints = evictingTaints(nodes.store.get(pod.spec.nodeName ?? ''));
      if (taints.length > 0 || scheduled.has(key)) queue.add(key);
    };
    const stops = [
      nodes.onChange({
        add: (node) => {
          if (evictingTaints(node).length > 0) taintsChanged(node);
        },
        update: (before, after) => {
          if (!deepEqual(evictingTaints(before), evictingTaints(after))) taintsChanged(after);
        },
        delete: ({ metadata }) => firstSeen.forget(metadata.name ?? ''),
      }),
      pods.onChange({
        add: podChanged,
        update: (before, after) => {
          if (!isSameForEviction(before, after)) podChanged(after);
        },
        delete: ({ metadata }) => scheduled.delete(objectKey(metadata)),
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function createParts({ caller, informers, clock, log, metrics }: ControllerParts): Parts {
  const pods = informers.of(podDefinition);
  pods.addIndex(podNodeIndex, podNode);
  const component = 'taint-eviction-controller';
  return {
    nodes: informers.of(nodeDefinition),
    pods,
    client: resourceClient(caller, podDefinition),
    recorder: createEventRecorder({ caller, component, clock, log }),
    metrics: createEvictionMetrics(metrics),
    clock,
    firstSeen: createTaintTimes(clock),
    scheduled: new Set(),
  };
}

/** Most updates of pods do not concern tolerations or node. */
function isSameForEviction(a: Pod, b: Pod): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    a.spec.nodeName === b.spec.nodeName &&
    deepEqual(a.spec.tolerations, b.spec.tolerations)
  );
}

async function sync(parts: Parts, key: string): Promise<ReconcileResult | undefined> {
  const { nodes, pods, client, recorder, metrics, clock, firstSeen, scheduled } = parts;
  const pod = pods.store.get(key);
  const node = pod && nodes.store.get(pod.spec.nodeName ?? '');
  const taints = evictingTaints(node);
  const seenMs = (taint: Taint): number => firstSeen.since(node, taint);
  const due = pod && evictionTime({ pod, taints, seenMs });
  if (pod === undefined || due === undefined) {
    const isCancelled = scheduled.delete(key) && pod?.metadata.deletionTimestamp === undefined;
    if (pod !== undefined && isCancelled)
      recordEviction(recorder, pod, 'Cancelling deletion of Pod');
    return undefined;
  }
  const remainingMs = due - clock.now();
  if (remainingMs > 0) {
    scheduled.add(key);
    return { retryAfterMs: remainingMs };
  }
  recordEviction(recorder, pod, 'Marking for deletion Pod');
  await evictPod(client, pod, clock.now());
  scheduled.delete(key);
  metrics.deleted(due === 0 ? 0 : -remainingMs);
  return undefined;
}

function recordEviction(recorder: EventRecorder, pod: Pod, what: string): void {
  const message = `${what} ${objectKey(pod.metadata)}`;
  recorder.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message });
}

type TaintTimes = ReturnType<typeof createTaintTimes>;

/** When each taint of a node was first observed, for taints without timeAdded. */
function createTaintTimes(clock: Clock) {
  const nodes = new Map<string, Map<string, number>>();
  const textOf = ({ key, value = '' }: Taint): string => `${key}=${value}`;
  return {
    update(node: Node): void {
      const { name = '' } = node.metadata;
      const before = nodes.get(name);
      const texts = evictingTaints(node).map(textOf);
      if (texts.length === 0) nodes.delete(name);
      else nodes.set(name, new Map(texts.map((t) => [t, before?.get(t) ?? clock.now()])));
    },
    since: (node: Node | undefined, taint: Taint): number =>
      nodes.get(node?.metadata.name ?? '')?.get(textOf(taint)) ?? clock.now(),
    forget: (name: string): void => void nodes.delete(name),
  };
}
