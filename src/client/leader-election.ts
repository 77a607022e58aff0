// Leader election: of several replicas, the one that holds a Lease and keeps renewing it does the work.
import { type Clock, sleep } from '../host/clock.ts';
import { leaseDefinition } from '../kinds/lease/definition.ts';
import type { Lease } from '../kinds/lease/types.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../meta/api-error.ts';
import type { Log } from '../observe/log.ts';
import { formatMicroTime } from '../schema/time.ts';
import type { ApiCaller } from './api-call.ts';
import { type ResourceClient, resourceClient } from './rest.ts';

export type LeaderElectionOptions = {
  readonly caller: ApiCaller;
  readonly namespace: string;
  readonly name: string;
  /** Unique among the replicas: host name and a random suffix. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly timing?: LeaseTiming;
  /** The work of the leader. Its signal is aborted when the lease is lost or the election stops. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
};

export type LeaseTiming = {
  /** How long non-leaders wait after the last observed renewal before they take over (upstream: lease duration). */
  readonly durationMs: number;
  /** A leader that cannot renew for this long steps down; shorter than the duration, so that two never lead at once (renew deadline). */
  readonly renewWithinMs: number;
  /** Between two attempts (retry period). */
  readonly everyMs: number;
};

/** As kube-controller-manager. */
export const defaultTiming: LeaseTiming = {
  durationMs: 15_000,
  renewWithinMs: 10_000,
  everyMs: 2_000,
};

/** Runs until the signal is aborted; calls `lead` each time the lease is acquired. */
export async function runElection(
  options: LeaderElectionOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = resourceClient(options.caller, leaseDefinition);
  const { clock, log, timing = defaultTiming, identity } = options;
  const observed: ObservedRenewal = { renewal: '', at: 0 };
  while (!signal.aborted) {
    if (await tryAcquireOrRenew(options, client, observed)) {
      log.info('Became leader', { lease: `${options.namespace}/${options.name}`, identity });
      await leadWhileHeld(options, client, observed, signal);
    } else {
      await sleep(clock, timing.everyMs, signal);
    }
  }
}

/** The last observed renewal, and when our own clock observed it: the holder's clock may be wrong. */
export type ObservedRenewal = { renewal: string; at: number };

async function leadWhileHeld(
  options: LeaderElectionOptions,
  client: ResourceClient<Lease>,
  observed: ObservedRenewal,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, timing = defaultTiming } = options;
  const lost = new AbortController();
  const ending = AbortSignal.any([signal, lost.signal]);
  const work = options.lead(ending).finally(() => lost.abort());
  let renewedAt = clock.now();
  while (!ending.aborted) {
    await sleep(clock, timing.everyMs, ending);
    if (ending.aborted) break;
    if (await tryAcquireOrRenew(options, client, observed)) renewedAt = clock.now();
    else if (clock.now() - renewedAt >= timing.renewWithinMs) {
      log.warn('Lost leader election', { lease: `${options.namespace}/${options.name}` });
      lost.abort();
    }
  }
  await work;
  if (signal.aborted) await release(options, client);
}

/** Acquires or renews the lease if possible. Errors of the server are logged, not thrown. */
async function tryAcquireOrRenew(
  { namespace, name, identity, clock, log, timing = defaultTiming }: LeaderElectionOptions,
  client: ResourceClient<Lease>,
  observed: ObservedRenewal,
): Promise<boolean> {
  const now = clock.now();
  try {
    const lease = await client.get({ namespace, name }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const wanted = desiredLease({ lease, observed, identity, now, timing });
    if (wanted === undefined) return false;
    if (lease === undefined) await client.create({ ...wanted, metadata: { namespace, name } });
    else await client.update(wanted);
    return true;
  } catch (error) {
    if (!isConflict(error) && !isAlreadyExists(error)) {
      log.warn('Failed to acquire or renew lease, retrying', {
        lease: `${namespace}/${name}`,
        error: String(error),
      });
    }
    return false;
  }
}

export type DesiredLeaseOptions = {
  readonly lease: Lease | undefined;
  /** Updated in place from the lease. */
  readonly observed: ObservedRenewal;
  readonly identity: string;
  readonly now: number;
  readonly timing: LeaseTiming;
};

/** The lease as we must write it to hold it; undefined while another replica holds it. */
export function desiredLease({
  lease,
  observed,
  identity,
  now,
  timing,
}: DesiredLeaseOptions): Lease | undefined {
  const time = formatMicroTime(now);
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(timing.durationMs / 1000),
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  };
  if (lease === undefined) {
    return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {}, spec: spec };
  }
  const {
    holderIdentity = '',
    renewTime = '',
    acquireTime = time,
    leaseTransitions = 0,
  } = lease.spec;
  const renewal = `${holderIdentity} ${renewTime}`;
  if (renewal !== observed.renewal) Object.assign(observed, { renewal, at: now });
  if (holderIdentity === identity)
    return { ...lease, spec: { ...lease.spec, ...spec, acquireTime, leaseTransitions } };
  const durationMs = (lease.spec.leaseDurationSeconds ?? 0) * 1000 || timing.durationMs;
  const isFree = holderIdentity === '' || now - observed.at > durationMs;
  return isFree
    ? { ...lease, spec: { ...lease.spec, ...spec, leaseTransitions: leaseTransitions + 1 } }
    : undefined;
}

/** Lets another replica take over at once, without waiting for the lease to expire. */
async function release(
  { namespace, name, identity, clock, log }: LeaderElectionOptions,
  client: ResourceClient<Lease>,
): Promise<void> {
  try {
    const lease = await client.get({ namespace, name });
    if (lease.spec.holderIdentity !== identity) return;
    const renewTime = formatMicroTime(clock.now());
    const spec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: renewTime,
      renewTime,
    };
    await client.update({ ...lease, spec });
  } catch (error) {
    log.debug('Failed to release lease', {
      lease: `${namespace}/${name}`,
      error: String(error),
    });
  }
}
