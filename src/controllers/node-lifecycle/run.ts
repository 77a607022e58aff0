// Follows nodes and the leases of their agents.

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
import { isSilent, judgeNode } from './desired.ts';
import { measureNodes } from './metrics.ts';
import { desiredTaints } from './taints.ts';

const concurrency = 4;

type Parts = {
  readonly settings: ControllerSettings;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly nodeClient: ResourceClient<Node>;
  readonly podClient: ResourceClient<Pod>;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly signs: Signs;
  /** Nodes that have just stopped being ready, whose pods do not know yet. */
  readonly fallen: Set<string>;
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
  async run(given, signal) {
    const leases = given.informers.of(leaseDefinition, { namespace: nodeLeaseNamespace });
    const parts = gather(given);
    const { nodes, pods, clock, signs, fallen } = parts;
    if (!(await waitForSync([nodes, pods, leases], signal))) return;
    const reconcile = (name: string): Promise<ReconcileResult | undefined> => sync(parts, name);
    const { log, queueMetrics: metrics } = given;
    const { queue, ended } = startReconciler(
      { name: 'node_lifecycle_controller', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const add = (name: string): void => queue.add(name);
    const heard = (lease: Lease): void => signs.ofLease(lease);
    const stops = [
      leases.onChange({ add: heard, update: (_before, after) => heard(after) }),
      nodes.onChange({
        add: (node) => nodeChanged(parts, node, add),
        update: (before, after) => {
          if (isNodeReady(before) && !isNodeReady(after)) nodeFell(parts, after);
          nodeChanged(parts, after, add);
        },
        delete: (node) => {
          const { name = '' } = node.metadata;
          signs.forget(name);
          fallen.delete(name);
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
  parts.signs.ofNode(node);
  followReady(parts, name, isNodeReady(node), add);
  add(name);
}

/** The first node that is ready, and the last that was, change what becomes of all others. */
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

function nodeFell({ fallen, recorder }: Parts, node: Node): void {
  const { name = '' } = node.metadata;
  fallen.add(name);
  const message = `Node ${name} status is now: NodeNotReady`;
  recorder.record(node, { type: 'Normal', reason: 'NodeNotReady', message });
}

function gather(given: ControllerParts): Parts {
  const { caller, informers, clock, log, settings, metrics } = given;
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
    signs: createSigns(clock),
    fallen: new Set(),
    readyNodes: new Set(),
  };
}

async function sync(parts: Parts, name: string): Promise<ReconcileResult | undefined> {
  const { nodes, pods, nodeClient, podClient, clock, signs, fallen, settings } = parts;
  const node = nodes.store.get(name);
  if (node === undefined) return undefined;
  const now = clock.now();
  const { nodeMonitorGraceMs: silenceMs, nodeStartupGraceMs: startupMs } = settings;
  const verdict = judgeNode({ node, observedMs: signs.lastOf(node), silenceMs, startupMs, now });
  if (verdict.action === 'write') {
    // The change comes back, and with it the taints and the pods.
    await writeConditions(nodeClient, node, verdict.conditions);
    return undefined;
  }
  const hasReadyNode = parts.readyNodes.size > 0;
  const taints = desiredTaints({ node, hasReadyNode, now });
  if (taints !== node.spec.taints && taints.length + (node.spec.taints ?? []).length > 0)
    await writeTaints(nodeClient, node, taints);
  // Taken before the writes: a node that falls again meanwhile is looked at again.
  const hasFallen = fallen.delete(name);
  if (hasFallen || isSilent(node)) {
    try {
      await markNotReady(podClient, pods.store.select(podNodeIndex, name), now);
    } catch (error) {
      if (hasFallen) fallen.add(name);
      throw error;
    }
  }
  return verdict.action === 'wait' ? { retryAfterMs: verdict.ms } : undefined;
}

type Signs = ReturnType<typeof createSigns>;
type Sign = { readonly what: string; readonly at: number };

/**
 * When each agent was last heard of, by our own clock: clocks of machines differ. A sign is a lease renewed or a
 * status reported since we last looked.
 */
function createSigns(clock: Clock) {
  const leases = new Map<string, Sign>();
  const reports = new Map<string, Sign>();
  const note = (signs: Map<string, Sign>, name: string, what: string): void => {
    if (signs.get(name)?.what !== what) signs.set(name, { what, at: clock.now() });
  };
  return {
    ofLease: ({ metadata, spec }: Lease): void =>
      note(leases, metadata.name ?? '', spec.renewTime ?? ''),
    ofNode(node: Node): void {
      const heartbeat = nodeCondition(node, 'Ready')?.lastHeartbeatTime;
      if (heartbeat) note(reports, node.metadata.name ?? '', heartbeat);
    },
    lastOf({ metadata }: Node): number {
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
