// Watches nodes and their leases, and acts on those that stop reporting.

import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import type { Clock } from '../../host/clock.ts';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import type { Lease } from '../../kinds/lease/types.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { isNodeReady, nodeCondition, nodeLeaseNamespace } from '../../kinds/node/readiness.ts';
import type { Node } from '../../kinds/node/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { podNode, podNodeIndex } from '../../kinds/pod/node-index.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { parseTime } from '../../schema/time.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import type { ControllerSettings } from '../settings.ts';
import { markNotReady, writeConditions, writeTaints } from './apply.ts';
import { hasStoppedReporting, judgeNode } from './desired.ts';
import { measureNodes } from './metrics.ts';
import { desiredTaints, registersForMs } from './taints.ts';

const concurrency = 4;

type Parts = {
  readonly settings: ControllerSettings;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly nodeClient: ResourceClient<Node>;
  readonly podClient: ResourceClient<Pod>;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly heartbeats: Heartbeats;
  /** Nodes that have just become not ready and whose pods are still to be updated. */
  readonly newlyNotReady: Set<string>;
  readonly readyNodes: Set<string>;
};

export const nodeLifecycleController: Controller = {
  name: 'node-lifecycle-controller',
  shortName: 'nodelifecycle',
  account: 'node-controller',
  watches: [
    ...mayWatch(nodeDefinition, podDefinition),
    may('list watch', leaseDefinition, { namespace: nodeLeaseNamespace }),
  ],
  rights: [
    may('patch', nodeDefinition),
    may('patch', nodeDefinition, { subresource: 'status' }),
    may('patch', podDefinition, { subresource: 'status' }),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const leases = shared.informers.of(leaseDefinition, { namespace: nodeLeaseNamespace });
    const parts = createParts(shared);
    const { nodes, pods, clock, heartbeats, newlyNotReady } = parts;
    if (!(await waitForSync([nodes, pods, leases], signal))) return;
    const reconcile = (name: string): Promise<ReconcileResult | undefined> => sync(parts, name);
    const { log, queueMetrics: metrics } = shared;
    const { queue, ended } = startReconciler(
      { name: 'node_lifecycle_controller', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const add = (name: string): void => queue.add(name);
    const observe = (lease: Lease): void => heartbeats.observeLease(lease);
    const stops = [
      leases.onChange({ add: observe, update: (_before, after) => observe(after) }),
      nodes.onChange({
        add: (node) => nodeChanged(parts, node, add),
        update: (before, after) => {
          if (isNodeReady(before) && !isNodeReady(after)) nodeBecameNotReady(parts, after);
          nodeChanged(parts, after, add);
        },
        delete: (node) => {
          const { name = '' } = node.metadata;
          heartbeats.forget(name);
          newlyNotReady.delete(name);
          followReady(parts, name, false, add);
        },
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function nodeChanged(parts: Parts, node: Node, add: (name: string) => void): void {
  const { name = '' } = node.metadata;
  parts.heartbeats.observeNode(node);
  followReady(parts, name, isNodeReady(node), add);
  add(name);
}

/** The first ready node, and the last one, change the taints of all others (full disruption). */
function followReady(
  { nodes, readyNodes }: Parts,
  name: string,
  isReady: boolean,
  add: (name: string) => void,
): void {
  const hadAny = readyNodes.size > 0;
  if (isReady) readyNodes.add(name);
  else readyNodes.delete(name);
  if (hadAny !== readyNodes.size > 0) for (const other of nodes.store.keys()) add(other);
}

function nodeBecameNotReady({ newlyNotReady, recorder }: Parts, node: Node): void {
  const { name = '' } = node.metadata;
  newlyNotReady.add(name);
  const message = `Node ${name} status is now: NodeNotReady`;
  recorder.record(node, { type: 'Normal', reason: 'NodeNotReady', message });
}

function createParts(shared: ControllerParts): Parts {
  const { caller, informers, clock, log, settings, metrics } = shared;
  const nodes = informers.of(nodeDefinition);
  measureNodes(metrics, () => nodes.store.values());
  const pods = informers.of(podDefinition);
  pods.addIndex(podNodeIndex, podNode);
  return {
    settings,
    nodes,
    pods,
    nodeClient: resourceClient(caller, nodeDefinition),
    podClient: resourceClient(caller, podDefinition),
    recorder: createEventRecorder({ caller, component: 'node-controller', clock, log }),
    clock,
    heartbeats: createHeartbeats(clock),
    newlyNotReady: new Set(),
    readyNodes: new Set(),
  };
}

async function sync(parts: Parts, name: string): Promise<ReconcileResult | undefined> {
  const { nodes, pods, nodeClient, podClient, clock, heartbeats, newlyNotReady, settings } = parts;
  const node = nodes.store.get(name);
  if (node === undefined) return undefined;
  const now = clock.now();
  const { nodeMonitorGraceMs: monitorGraceMs, nodeStartupGraceMs: startupGraceMs } = settings;
  const verdict = judgeNode({
    node,
    observedMs: heartbeats.lastReportMs(node),
    monitorGraceMs,
    startupGraceMs,
    now,
  });
  if (verdict.action === 'write') {
    // The update event brings the node back for its taints and pods.
    await writeConditions(nodeClient, node, verdict.conditions);
    return undefined;
  }
  const hasReadyNode = parts.readyNodes.size > 0;
  const taints = desiredTaints({ node, hasReadyNode, now });
  if (taints !== node.spec.taints && taints.length + (node.spec.taints ?? []).length > 0)
    await writeTaints(nodeClient, node, taints);
  // Removed before the writes: a node that becomes not ready again meanwhile is handled again.
  const becameNotReady = newlyNotReady.delete(name);
  if (becameNotReady || hasStoppedReporting(node)) {
    try {
      await markNotReady(podClient, pods.store.select(podNodeIndex, name), now);
    } catch (error) {
      if (becameNotReady) newlyNotReady.add(name);
      throw error;
    }
  }
  const waitMs = registersForMs(node, now) ?? (verdict.action === 'wait' ? verdict.ms : undefined);
  return waitMs === undefined ? undefined : { retryAfterMs: waitMs };
}

type Heartbeats = ReturnType<typeof createHeartbeats>;
type Heartbeat = { readonly what: string; readonly at: number };

/**
 * When each kubelet last reported, by our own clock, because clocks of machines differ. A report is a lease renewal or
 * a heartbeat in the status.
 */
function createHeartbeats(clock: Clock) {
  const leases = new Map<string, Heartbeat>();
  const reports = new Map<string, Heartbeat>();
  const note = (signs: Map<string, Heartbeat>, name: string, what: string): void => {
    if (signs.get(name)?.what !== what) signs.set(name, { what, at: clock.now() });
  };
  return {
    observeLease: ({ metadata, spec }: Lease): void =>
      note(leases, metadata.name ?? '', spec.renewTime ?? ''),
    observeNode(node: Node): void {
      const heartbeat = nodeCondition(node, 'Ready')?.lastHeartbeatTime;
      if (heartbeat) note(reports, node.metadata.name ?? '', heartbeat);
    },
    lastReportMs({ metadata }: Node): number {
      const { name = '', creationTimestamp = '' } = metadata;
      const created = parseTime(creationTimestamp) ?? clock.now();
      return Math.max(created, leases.get(name)?.at ?? 0, reports.get(name)?.at ?? 0);
    },
    forget(name: string): void {
      leases.delete(name);
      reports.delete(name);
    },
  };
}
