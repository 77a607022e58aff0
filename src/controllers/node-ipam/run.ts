// Allocates a range of pod addresses to every node.

import { createEventRecorder } from '../../client/event-recorder.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import type { Node } from '../../kinds/node/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { Controller } from '../controller.ts';
import { createAssigner } from './desired.ts';
import { createNodeIpamMetrics } from './metrics.ts';

/** Upstream's maximum back-off. */
const retryMs = 120_000;
const nothing = { clusterCidrs: [], maskSizes: { IPv4: 32, IPv6: 128 }, serviceCidrs: [] };

export const nodeIpamController: Controller = {
  name: 'node-ipam-controller',
  shortName: 'nodeipam',
  account: 'node-controller',
  watches: mayWatch(nodeDefinition),
  rights: [may('patch', nodeDefinition), mayRecordEvents],
  async run(parts, signal) {
    const { caller, informers, clock, log, settings, queueMetrics: metrics } = parts;
    const assigner = createAssigner(settings.nodeIpam ?? nothing);
    const counts = createNodeIpamMetrics(parts.metrics, assigner.ranges);
    // Node ranges are allocated elsewhere or not at all.
    if (settings.nodeIpam === undefined) return;
    const nodes = informers.of(nodeDefinition);
    const client = resourceClient(caller, nodeDefinition);
    const recorder = createEventRecorder({ caller, component: 'cidrAllocator', clock, log });
    if (!(await waitForSync([nodes], signal))) return;

    const reconcile = async (name: string): Promise<ReconcileResult | undefined> => {
      const node = nodes.store.get(name);
      if (node === undefined) return undefined;
      const assignment = assigner.assign(node);
      if (assignment.kind === 'write') {
        await write(client, node, assignment.podCIDRs);
        counts.allocated();
      } else if (assignment.kind === 'exhausted') {
        const reason = 'CIDRNotAvailable';
        const message = `Node ${name} status is now: ${reason}`;
        recorder.record(node, { type: 'Normal', reason, message });
        log.warn('No free pod range for node, retrying later', { node: name, ...assignment });
        return { retryAfterMs: retryMs };
      } else if (assignment.kind === 'outside') {
        log.warn('Pod ranges of node are outside of the cluster ranges', {
          node: name,
          ...assignment,
        });
      }
      return undefined;
    };
    // The ranges of all existing nodes must be occupied before the first allocation.
    for (const node of nodes.store.values()) if (hasRange(node)) assigner.assign(node);
    const { queue, ended } = startReconciler(
      { name: 'node_ipam_controller', reconcile, clock, log, metrics },
      signal,
    );
    const add = ({ metadata }: Node): void => queue.add(metadata.name ?? '');
    const stop = nodes.onChange({
      add,
      update: (before, after) => {
        if (hasRange(before) !== hasRange(after) || !hasRange(after)) add(after);
      },
      delete: ({ metadata }) => {
        if (!assigner.forget(metadata.name ?? '')) return;
        counts.released();
        for (const other of nodes.store.values()) if (!hasRange(other)) add(other);
      },
    });
    await ended;
    stop();
  },
};

function hasRange({ spec }: Node): boolean {
  return (spec.podCIDRs ?? []).length > 0 || Boolean(spec.podCIDR);
}

/** The resource version makes a concurrent change fail the write. */
async function write(
  client: ResourceClient<Node>,
  { metadata }: Node,
  podCIDRs: readonly string[],
): Promise<void> {
  const { name = '', resourceVersion } = metadata;
  const patch = { metadata: { resourceVersion }, spec: { podCIDR: podCIDRs[0], podCIDRs } };
  try {
    await client.patch({ name }, patch, { type: 'merge' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
