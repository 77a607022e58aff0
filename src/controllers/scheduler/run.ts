// Assigns nodes to pods, one pod at a time, by their priority. An unschedulable pod waits until nodes or pods change.

import { createEventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { namespaceDefinition } from '../../kinds/namespace/definition.ts';
import type { Namespace } from '../../kinds/namespace/types.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import type { Node } from '../../kinds/node/types.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import { podClaimIndex } from '../../kinds/pod/claim-index.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { podNode, podNodeIndex } from '../../kinds/pod/node-index.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { storageClassDefinition } from '../../kinds/storage-class/definition.ts';
import { objectKey } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller } from '../controller.ts';
import { bindPod, bindVolumes, reportUnschedulable } from './apply.ts';
import type { Cluster } from './cluster.ts';
import { schedulerName, selectNode, waitsForNode } from './desired.ts';
import { followVolumes } from './run-volumes.ts';
import { planVolumes, type VolumeWorld } from './volumes.ts';

/** Concurrent bindings. */
const concurrency = 16;
/** Changes within this time cause one retry. */
const settleMs = 100;
const backOff = { firstMs: 1000, maxMs: 10_000 };

export const scheduler: Controller = {
  name: 'scheduler',
  account: 'fairlead-scheduler',
  watches: mayWatch(
    nodeDefinition,
    podDefinition,
    namespaceDefinition,
    persistentVolumeClaimDefinition,
    persistentVolumeDefinition,
    storageClassDefinition,
  ),
  rights: [
    may('create', podDefinition, { subresource: 'binding' }),
    may('patch', podDefinition, { subresource: 'status' }),
    may('patch', persistentVolumeClaimDefinition),
    may('update', persistentVolumeDefinition),
    mayRecordEvents,
  ],
  async run({ caller: sharedCaller, informers, clock, log, queueMetrics: metrics }, signal) {
    const caller = { ...sharedCaller, userAgent: 'kube-scheduler' };
    const nodes = informers.of(nodeDefinition);
    const pods = informers.of(podDefinition);
    const namespaces = informers.of(namespaceDefinition);
    const storage = followVolumes(informers);
    pods.addIndex(podNodeIndex, podNode);
    if (!(await waitForSync([nodes, pods, namespaces, ...storage.informers], signal))) return;
    const recorder = createEventRecorder({ caller, component: schedulerName, clock, log });
    const assumed = createAssumedPods();
    /** Unschedulable pods. */
    const waiting = new Set<string>();
    /** No pod displaces another, but of those that wait the most important comes first. */
    const priorityOf = (key: string): number => pods.store.get(key)?.spec.priority ?? 0;

    const reconcile = async (key: string): Promise<undefined> => {
      const pod = pods.store.get(key);
      waiting.delete(key);
      if (pod === undefined || !waitsForNode(pod) || assumed.has(pod)) return;
      const task = { caller, recorder, now: clock.now() };
      const { world: volumes } = storage;
      const placement = selectNode(pod, clusterOf({ nodes, pods, namespaces, assumed, volumes }));
      if ('node' in placement) {
        const plans = planVolumes(pod, nodes.store.get(placement.node), volumes);
        // Scheduled again when its claims are bound, which happens elsewhere.
        if (plans.length > 0) return bindVolumes(task, plans);
        // Counts as bound from here on, so that other pods can be scheduled while the binding is written.
        assumed.add(pod, placement.node);
        const isBound = await bindPod(task, pod, placement.node).catch((error: unknown) => {
          assumed.forget(pod);
          throw error;
        });
        if (!isBound) assumed.forget(pod);
        return;
      }
      waiting.add(key);
      if ('message' in placement) await reportUnschedulable(task, pod, placement.message);
    };
    const { queue, ended } = startReconciler(
      { name: 'scheduler', reconcile, clock, log, metrics, backOff, priorityOf, concurrency },
      signal,
    );
    /** The most important first: they wait equally long, and are taken in this order. */
    const retryWaiting = (): void => {
      const keys = [...waiting].sort((a, b) => priorityOf(b) - priorityOf(a));
      for (const key of keys) queue.addAfter(key, settleMs);
    };
    const stops = [
      storage.onChange({
        claim: (key) => {
          for (const pod of pods.store.select(podClaimIndex, key))
            if (waitsForNode(pod)) queue.add(objectKey(pod.metadata));
        },
        other: retryWaiting,
      }),
      nodes.onChange({
        add: retryWaiting,
        update: (before, after) => {
          if (!isSameForScheduling(before, after)) retryWaiting();
        },
        delete: retryWaiting,
      }),
      pods.onChange({
        add: (pod) => {
          if (waitsForNode(pod)) queue.add(objectKey(pod.metadata));
        },
        update: (before, after) => {
          assumed.observe(after);
          if (waitsForNode(after)) {
            if (!isSameForPlacement(before, after)) queue.add(objectKey(after.metadata));
          } else if (mayMakeRoom(before, after)) retryWaiting();
        },
        delete: (pod) => {
          assumed.forget(pod);
          waiting.delete(objectKey(pod.metadata));
          if (pod.spec.nodeName) retryWaiting();
        },
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

/** Ignores heartbeats. */
function isSameForScheduling(a: Node, b: Node): boolean {
  const facts = ({ metadata, spec, status }: Node): unknown => [
    metadata.labels,
    spec,
    status.allocatable,
    status.capacity,
    (status.conditions ?? []).map(({ type, status: value }) => [type, value]),
  ];
  return deepEqual(facts(a), facts(b));
}

/** The status, which the scheduler writes itself, does not affect scheduling. */
function isSameForPlacement(a: Pod, b: Pod): boolean {
  return deepEqual(a.spec, b.spec) && deepEqual(a.metadata.labels, b.metadata.labels);
}

function mayMakeRoom(before: Pod, after: Pod): boolean {
  const hasEnded = isPodFinished(after) && !isPodFinished(before);
  // A pod that was just bound may satisfy the affinity of another.
  return (
    hasEnded || before.spec.nodeName !== after.spec.nodeName || !isSameForPlacement(before, after)
  );
}

type AssumedPods = ReturnType<typeof createAssumedPods>;

/** Pods that were bound here and whose binding the informer does not show yet (upstream: assumed pods). */
function createAssumedPods() {
  const pods = new Map<string, { readonly pod: Pod; readonly node: string }>();
  const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';
  return {
    add(pod: Pod, node: string): void {
      pods.set(uidOf(pod), { pod: { ...pod, spec: { ...pod.spec, nodeName: node } }, node });
    },
    observe(pod: Pod): void {
      if (pod.spec.nodeName) pods.delete(uidOf(pod));
    },
    forget: (pod: Pod): void => void pods.delete(uidOf(pod)),
    has: (pod: Pod): boolean => pods.has(uidOf(pod)),
    on: (node: string): readonly Pod[] =>
      [...pods.values()].filter((entry) => entry.node === node).map(({ pod }) => pod),
  };
}

type Sources = {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly namespaces: Informer<Namespace>;
  readonly assumed: AssumedPods;
  readonly volumes: VolumeWorld;
};

function clusterOf({ nodes, pods, namespaces, assumed, volumes }: Sources): Cluster {
  return {
    volumes,
    nodes: [...nodes.store.values()].map((node) => {
      const { name = '' } = node.metadata;
      const shown = pods.store.select(podNodeIndex, name).filter((pod) => !isPodFinished(pod));
      return { node, pods: [...shown, ...assumed.on(name)] };
    }),
    namespaceLabels: (name) => namespaces.store.get(name)?.metadata.labels,
  };
}
