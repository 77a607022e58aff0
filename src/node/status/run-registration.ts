// Shows the cluster that the node is there: its Node object, and a Lease that is renewed.
import type { ApiCaller } from '../../client/api-call.ts';
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
  readonly facts: MachineFacts;
  /** What to say now, after what was said before. */
  readonly status: (before: NodeStatus['conditions']) => NodeStatus;
  /** Told when there is something new to say. */
  readonly onStatusChange: (listener: () => void) => void;
};

/** A kubelet's: the lease lasts 40 s and is renewed four times in that; the status is told every 5 min. */
const leaseSeconds = 40;
const renewMs = 10_000;
const statusMs = 300_000;

/** Resolves when the node is there with its status. */
export async function registerNode(
  options: RegistrationOptions,
  signal: AbortSignal,
): Promise<Node> {
  const { clock, log, name } = options;
  for (;;) {
    try {
      const node = await ensureNode(options);
      return await writeStatus(options, node);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn('node could not be registered', { node: name, error: String(error) });
      await sleep(clock, retryMs, signal);
    }
  }
}

/** The server is told of a new node at once; one that is there keeps what others say of it. */
async function ensureNode({
  caller,
  name,
  labels,
  facts,
  status,
}: RegistrationOptions): Promise<Node> {
  const nodes = resourceClient(caller, nodeDefinition);
  const wanted = { ...nodeLabels(name, facts), ...labels };
  try {
    return await nodes.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: wanted },
      spec: {},
      status: status(undefined),
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return nodes.patch({ name }, { metadata: { labels: wanted } }, { type: 'merge' });
  }
}

const retryMs = 1000;

async function writeStatus(
  { caller, status, name }: RegistrationOptions,
  node: Node,
): Promise<Node> {
  const wanted = status(node.status?.conditions);
  // Addresses are merged by their type, and a node may have several of one.
  const addresses = [...(wanted.addresses ?? []), { $patch: 'replace' }];
  const patch = { status: { ...wanted, addresses } };
  const nodes = resourceClient(caller, nodeDefinition);
  return nodes.patch({ name }, patch, { type: 'strategic', subresource: 'status' });
}

/** Until the signal ends it. */
export async function keepNode(options: RegistrationOptions, signal: AbortSignal): Promise<void> {
  const { caller, clock, log, name } = options;
  const nodes = resourceClient(caller, nodeDefinition);
  let toldAt = clock.now();
  let news = new AbortController();
  options.onStatusChange(() => news.abort());
  // What changed since the registration has been told to nobody.
  news.abort();
  while (!signal.aborted) {
    const isNew = news.signal.aborted;
    if (isNew) news = new AbortController();
    try {
      await renewLease(options);
      if (isNew || clock.now() - toldAt >= statusMs) {
        await writeStatus(options, await nodes.get({ name }));
        toldAt = clock.now();
      }
    } catch (error) {
      if (isNotFound(error)) {
        // Somebody deleted the node while it lives.
        await registerNode(options, signal).catch(() => undefined);
      } else log.warn('node lease could not be renewed', { node: name, error: String(error) });
    }
    await sleep(clock, renewMs, AbortSignal.any([news.signal, signal]));
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
    // The lease goes with the node.
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
