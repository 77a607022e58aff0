// Registers the node and sends its heartbeats: the Node object with its status, and a Lease that is renewed.
import type { ApiCaller } from '../../client/api-call.ts';
import { backOffMs } from '../../client/back-off.ts';
import { isPermanentRefusal } from '../../client/permanent-refusal.ts';
import { resourceClient } from '../../client/rest.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import type { Lease } from '../../kinds/lease/types.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { nodeLeaseNamespace } from '../../kinds/node/readiness.ts';
import type { Node, NodeStatus } from '../../kinds/node/types.ts';
import { isAlreadyExists, isNotFound } from '../../meta/api-error.ts';
import type { Log } from '../../observe/log.ts';
import { formatMicroTime } from '../../schema/time.ts';
import { type MachineFacts, nodeLabels } from './node-status.ts';

export type RegistrationOptions = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly facts: MachineFacts;
  /** The current status, given the previous conditions. */
  readonly status: (before: NodeStatus['conditions']) => NodeStatus;
  /** The listener is called when the status has changed. */
  readonly onStatusChange: (listener: () => void) => void;
};

/** As in the kubelet: the lease lasts 40 s and is renewed every 10 s; the status is written every 5 min. */
const leaseSeconds = 40;
const renewMs = 10_000;
const statusMs = 300_000;

/** Between attempts to register. */
const retryLimits = { firstMs: 1000, maxMs: 10_000 };

/** Resolves when the Node exists with its status. Rejects after the signal has aborted, and when the server refuses the Node for good. */
export async function registerNode(
  options: RegistrationOptions,
  signal: AbortSignal,
): Promise<Node> {
  const { clock, log, name } = options;
  for (let failures = 0; ; failures += 1) {
    try {
      const node = await ensureNode(options);
      return await writeStatus(options, node);
    } catch (error) {
      if (signal.aborted || (isPermanentRefusal(error) && !isNotFound(error))) throw error;
      log.warn('Failed to register node, retrying', { node: name, error: String(error) });
      await sleep(clock, backOffMs(retryLimits, failures), signal);
    }
  }
}

/** An existing Node keeps everything but its labels and annotations. */
async function ensureNode({
  caller,
  name,
  labels,
  annotations,
  facts,
  status,
}: RegistrationOptions): Promise<Node> {
  const nodes = resourceClient(caller, nodeDefinition);
  const desired = { ...nodeLabels(name, facts), ...labels };
  try {
    return await nodes.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: desired, annotations },
      spec: {},
      status: status(undefined),
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const metadata = { labels: desired, annotations };
    return nodes.patch({ name }, { metadata }, { type: 'merge' });
  }
}

async function writeStatus(
  { caller, status, name }: RegistrationOptions,
  node: Node,
): Promise<Node> {
  const desired = status(node.status?.conditions);
  // A strategic merge patch merges addresses by type, and a node may have several of one type.
  const addresses = [...(desired.addresses ?? []), { $patch: 'replace' }];
  const patch = { status: { ...desired, addresses } };
  const nodes = resourceClient(caller, nodeDefinition);
  return nodes.patch({ name }, patch, { type: 'strategic', subresource: 'status' });
}

/** Renews the lease and writes the status until the signal aborts. */
export async function runHeartbeats(
  options: RegistrationOptions,
  signal: AbortSignal,
): Promise<void> {
  const { caller, clock, log, name } = options;
  const nodes = resourceClient(caller, nodeDefinition);
  let reportedAt = clock.now();
  let statusChange = new AbortController();
  options.onStatusChange(() => statusChange.abort());
  // Changes since the registration have not been written.
  let isDue = true;
  while (!signal.aborted) {
    isDue ||= statusChange.signal.aborted || clock.now() - reportedAt >= statusMs;
    if (statusChange.signal.aborted) statusChange = new AbortController();
    try {
      await renewLease(options);
      if (isDue) {
        await writeStatus(options, await nodes.get({ name }));
        isDue = false;
        reportedAt = clock.now();
      }
    } catch (error) {
      if (isNotFound(error)) {
        // The Node was deleted while the agent runs.
        await registerAgain(options, signal);
      } else log.warn('Failed to renew node lease, retrying', { node: name, error: String(error) });
    }
    await sleep(clock, renewMs, AbortSignal.any([statusChange.signal, signal]));
  }
}

/** A refusal is tried again with the next heartbeat. */
async function registerAgain(options: RegistrationOptions, signal: AbortSignal): Promise<void> {
  const { log, name } = options;
  try {
    await registerNode(options, signal);
  } catch (error) {
    if (!signal.aborted) log.error('Failed to register node', { node: name, error: String(error) });
  }
}

async function renewLease({ caller, clock, name }: RegistrationOptions): Promise<void> {
  const leases = resourceClient<Lease>(caller, leaseDefinition);
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: leaseSeconds,
    renewTime: formatMicroTime(clock.now()),
  };
  const key = { namespace: nodeLeaseNamespace, name };
  try {
    await leases.patch(key, { spec }, { type: 'merge' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // The lease is owned by the Node and deleted with it.
    const { metadata } = await resourceClient(caller, nodeDefinition).get({ name });
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: metadata.uid ?? '' };
    await leases.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...key, ownerReferences: [owner] },
      spec,
    });
  }
}
