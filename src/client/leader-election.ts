// One of several copies of a program does the work: the one that holds a Lease and keeps renewing it.
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
  /** Unique among the copies: host name and a random part. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly timing?: LeaseTiming;
  /** The work. Its signal ends when the lease is lost or the election ends. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
};

export type LeaseTiming = {
  /** Others wait so long after the last renewal they saw before they take over. */
  readonly durationMs: number;
  /** Who could not renew for so long steps down; shorter than the duration, so that two never lead at once. */
  readonly renewWithinMs: number;
  /** Between two tries. */
  readonly everyMs: number;
};

/** kube-controller-manager's. */
export const defaultTiming: LeaseTiming = {
  durationMs: 15_000,
  renewWithinMs: 10_000,
  everyMs: 2_000,
};

/** Competes until the signal ends; leads each time the lease is won. */
export async function runElection(
  options: LeaderElectionOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = resourceClient(options.caller, leaseDefinition);
  const { clock, log, timing = defaultTiming, identity } = options;
  const observed: Observed = { renewal: '', at: 0 };
  while (!signal.aborted) {
    if (await tryHold(options, client, observed)) {
      log.info('became leader', { lease: `${options.namespace}/${options.name}`, identity });
      await leadWhileHeld(options, client, observed, signal);
    } else {
      await sleep(clock, timing.everyMs, signal);
    }
  }
}

/** The last renewal seen, and when it was seen by our own clock: the holder's clock may be wrong. */
export type Observed = { renewal: string; at: number };

async function leadWhileHeld(
  options: LeaderElectionOptions,
  client: ResourceClient<Lease>,
  observed: Observed,
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
    if (await tryHold(options, client, observed)) renewedAt = clock.now();
    else if (clock.now() - renewedAt >= timing.renewWithinMs) {
      log.warn('lost the lease', { lease: `${options.namespace}/${options.name}` });
      lost.abort();
    }
  }
  await work;
  if (signal.aborted) await release(options, client);
}

/** Takes or renews the lease if that is possible; never throws for what the server says. */
async function tryHold(
  { namespace, name, identity, clock, log, timing = defaultTiming }: LeaderElectionOptions,
  client: ResourceClient<Lease>,
  observed: Observed,
): Promise<boolean> {
  const now = clock.now();
  try {
    const lease = await client.get({ namespace, name }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const wanted = decideLease({ lease, observed, identity, now, timing });
    if (wanted === undefined) return false;
    if (lease === undefined) await client.create({ ...wanted, metadata: { namespace, name } });
    else await client.update(wanted);
    return true;
  } catch (error) {
    if (!isConflict(error) && !isAlreadyExists(error)) {
      log.warn('lease could not be read or written', {
        lease: `${namespace}/${name}`,
        error: String(error),
      });
    }
    return false;
  }
}

export type LeaseSituation = {
  readonly lease: Lease | undefined;
  /** Updated with what the lease says now. */
  readonly observed: Observed;
  readonly identity: string;
  readonly now: number;
  readonly timing: LeaseTiming;
};

/** The lease as we would write it to hold it; undefined while somebody else holds it. */
export function decideLease({
  lease,
  observed,
  identity,
  now,
  timing,
}: LeaseSituation): Lease | undefined {
  const time = formatMicroTime(now);
  const held = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(timing.durationMs / 1000),
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  };
  if (lease === undefined) {
    return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {}, spec: held };
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
    return { ...lease, spec: { ...lease.spec, ...held, acquireTime, leaseTransitions } };
  const durationMs = (lease.spec.leaseDurationSeconds ?? 0) * 1000 || timing.durationMs;
  const isFree = holderIdentity === '' || now - observed.at > durationMs;
  return isFree
    ? { ...lease, spec: { ...lease.spec, ...held, leaseTransitions: leaseTransitions + 1 } }
    : undefined;
}

/** Lets the next one start at once instead of waiting for the lease to run out. */
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
    log.debug('lease could not be released', {
      lease: `${namespace}/${name}`,
      error: String(error),
    });
  }
}
