// Shows the other announcers that this one lives and can carry traffic.

import type { ApiCaller } from '../../client/api-call.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import type { Lease } from '../../kinds/lease/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { Log } from '../../observe/log.ts';
import { formatMicroTime } from '../../schema/time.ts';
import { announcerLabel, leaseName, leaseNamespace } from './lease-observer.ts';

export type OwnLeaseOptions = {
  readonly caller: ApiCaller;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  /** The node's own object: the lease goes with it. */
  readonly node: () => Node | undefined;
  readonly isReady: () => Promise<boolean>;
  /** Told after every try. */
  readonly tried: () => void;
};

export type OwnLease = {
  /** When it was last renewed; undefined while this node does not want to answer for anything. */
  readonly renewedAt: () => number | undefined;
  /** Resolves after the signal, when the lease is given back. */
  readonly ended: Promise<void>;
};

/** So many renewals may fail before others take this node for dead. */
export const triesPerLease = 3;
/**
 * Giving up on a request ends its connection, and the next begins with a handshake. Where machines are so busy that this takes longer
 * than the wait, it would never succeed: so each wait after a failure is longer than the one before.
 */
const maxWaitMs = 30_000;
/** A proxy that does not answer once may only be busy; moving its addresses would break its connections. */
const maxMisses = 2;

export function startOwnLease(options: OwnLeaseOptions, signal: AbortSignal): OwnLease {
  const { clock, leaseMs, isReady, tried, log, nodeName } = options;
  const client = resourceClient(options.caller, leaseDefinition);
  const everyMs = leaseMs / triesPerLease;
  let renewedAt: number | undefined;
  let isHeld = false;
  let waitMs = leaseMs;
  let misses = 0;
  const attempt = async (): Promise<void> => {
    misses = (await isReady()) ? 0 : misses + 1;
    if (misses >= (renewedAt === undefined ? 1 : maxMisses)) {
      // Nothing is answered for from now on, whether or not the server can be told.
      if (renewedAt !== undefined) log.warn('proxy is not ready', { node: nodeName });
      renewedAt = undefined;
      tried();
      if (isHeld) await release(client, nodeName, leaseMs);
      isHeld = false;
      return;
    }
    isHeld = true;
    const wait = waitMs;
    waitMs = Math.min(waitMs * 2, maxWaitMs);
    await within(wait, signal, (until) => renew(client, options, until));
    waitMs = leaseMs;
    renewedAt = clock.now();
  };
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await attempt();
      } catch (error) {
        if (!signal.aborted) log.debug('lease could not be written', { error: String(error) });
      }
      if (!signal.aborted) tried();
      await sleep(clock, everyMs, signal);
    }
    // Others take over at once instead of waiting until it has run out.
    if (isHeld) await release(client, nodeName, leaseMs).catch(() => {});
  };
  return { renewedAt: () => renewedAt, ended: keep() };
}

async function renew(
  client: ResourceClient<Lease>,
  { nodeName, leaseMs, node, clock }: OwnLeaseOptions,
  signal: AbortSignal,
): Promise<void> {
  const at = { namespace: leaseNamespace, name: leaseName(nodeName) };
  const spec = {
    holderIdentity: nodeName,
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    renewTime: formatMicroTime(clock.now()),
  };
  try {
    await client.patch(at, { spec }, { type: 'merge', signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const metadata = { ...at, labels: { [announcerLabel]: 'true' }, ...ownedBy(node()) };
    const lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec };
    await client.create(lease, { signal });
  }
}

function ownedBy(node: Node | undefined): Pick<Lease['metadata'], 'ownerReferences'> {
  const { name, uid } = node?.metadata ?? {};
  if (name === undefined || uid === undefined) return {};
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] };
}

/** Gives up after the time, or with the signal; nothing of it stays with the signal, which lives long. */
async function within(
  ms: number,
  signal: AbortSignal,
  act: (until: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end, { once: true });
  try {
    await act(ending.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

async function release(
  client: ResourceClient<Lease>,
  nodeName: string,
  waitMs: number,
): Promise<void> {
  try {
    const signal = AbortSignal.timeout(waitMs);
    await client.delete({ namespace: leaseNamespace, name: leaseName(nodeName) }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
