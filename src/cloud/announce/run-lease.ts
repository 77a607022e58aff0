// Renews the announcer's Lease, which shows the other announcers that this node is alive and its proxy healthy.

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
  /** The Node object, which owns the Lease. */
  readonly node: () => Node | undefined;
  readonly isReady: () => Promise<boolean>;
  /** Called after every attempt. */
  readonly tried: () => void;
};

export type OwnLease = {
  /** When it was last renewed; undefined while this node does not answer for any address. */
  readonly renewedAt: () => number | undefined;
  /** Resolves after the signal, when the lease is released. */
  readonly ended: Promise<void>;
};

/** Renewal attempts per lease duration; after as many failures others consider this node dead. */
export const triesPerLease = 3;
/**
 * A timeout closes the connection, and the next request starts with a handshake. On a busy machine this may take longer than the timeout
 * and never succeed: so the timeout grows with each failure.
 */
const maxWaitMs = 30_000;
/** A proxy that fails one check may only be busy; moving its addresses would break connections. */
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
      // Stop answering now, whether or not the lease can be released at the server.
      if (renewedAt !== undefined) log.warn('Proxy is not ready', { node: nodeName });
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
        if (!signal.aborted) log.debug('Failed to write lease, retrying', { error: String(error) });
      }
      if (!signal.aborted) tried();
      await sleep(clock, everyMs, signal);
    }
    // Others take over at once instead of waiting until it expires, which they do whatever the reason that the release fails.
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

/** Rejects on timeout or abort; leaves no listener on the signal, which is long-lived. */
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
