// The announcer of a node: answers ARP and NDP requests for its share of the load balancer addresses, and takes over from failed nodes.
import type { ApiCaller } from '../../client/api-call.ts';
import { createEventRecorder } from '../../client/event-recorder.ts';
import { startInformer } from '../../client/informer.ts';
import { createSharedInformers, waitForSync } from '../../client/shared-informers.ts';
import { startAnswering } from '../../host/answer-neighbors.ts';
import { type Clock, sleep, systemClock } from '../../host/clock.ts';
import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import type { Node } from '../../kinds/node/types.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { Log } from '../../observe/log.ts';
import type { MetricsRegistry } from '../../observe/metrics.ts';
import { createHolding } from './holding.ts';
import { announcerLabel, createLeaseObserver, leaseNamespace } from './lease-observer.ts';
import { serviceIndex, serviceOfSlice, trimSlice } from './local-endpoints.ts';
import { createAnnouncerMetrics } from './metrics.ts';
import { interfaceOf } from './probe-interface.ts';
import { probeProxy } from './probe-proxy.ts';
import { type AddressChecks, type CheckParts, startAddressChecks } from './run-check.ts';
import { startOwnLease } from './run-lease.ts';

export type AnnouncerOptions = {
  readonly caller: ApiCaller;
  readonly nodeName: string;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** The interface to answer on; absent: the one with the node's address. */
  readonly interface?: string;
  readonly clock?: Clock;
  /** How long after its last renewal a node counts as dead. */
  readonly leaseMs?: number;
  /** The loadBalancerClass of the Services; absent: those without one. */
  readonly loadBalancerClass?: string;
  /** Answers for any address that the status of a Service names, also those of nodes or the API server. */
  readonly allowsForeignAddresses?: boolean;
  /** Whether this node's proxy is ready; absent: by its /healthz on the default port on loopback. */
  readonly isProxyReady?: () => Promise<boolean>;
};

export const defaultLeaseMs = 3000;
export const defaultProxyUrl = 'http://127.0.0.1:10256/healthz';
/** Delay before a restart after a failure. */
const restartMs = 1000;

/**
 * Works in the network namespace of the calling thread. Resolves after the signal, when the lease is released. Throws when
 * the first start fails.
 */
export async function startAnnouncer(
  options: AnnouncerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock = systemClock } = options;
  const log = options.log.with({ part: 'announcer' });
  let hasBegun = false;
  const begun = (): void => {
    hasBegun = true;
  };
  while (!signal.aborted) {
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    try {
      await runOnce({ ...options, clock, log }, { ending, begun }, until);
    } catch (error) {
      if (!hasBegun) throw error;
      log.error('Announcer failed, restarting', { error: String(error) });
      await sleep(clock, restartMs, signal);
    } finally {
      ending.abort();
    }
  }
}

type RunParts = AnnouncerOptions & { readonly clock: Clock };
type Run = { readonly ending: AbortController; readonly begun: () => void };

async function runOnce(
  options: RunParts,
  { ending, begun }: Run,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, nodeName, isProxyReady } = options;
  const watched = watch(options, signal);
  const { services, nodes, slices, leases } = watched;
  if (!(await waitForSync([services, nodes, slices, leases], signal))) return watched.ended();
  const link = options.interface ?? linkOf(nodes.store.get(nodeName), nodeName);
  let failure: Error | undefined;
  let looking: AddressChecks | undefined;
  const holding = createHolding();
  const answers = await startAnswering({
    interface: link,
    claimed: (address) => {
      holding.claimed(address, clock.now());
      looking?.soon();
    },
    failed: (error) => {
      failure = error;
      ending.abort();
    },
  });
  begun();
  log.info('Answering neighbours', { node: nodeName, interface: link });
  const leaseMs = options.leaseMs ?? defaultLeaseMs;
  const own = startOwnLease(
    {
      ...options,
      leaseMs,
      node: () => nodes.store.get(nodeName),
      isReady: isProxyReady ?? (() => probeProxy(defaultProxyUrl)),
      tried: () => looking?.soon(),
    },
    signal,
  );
  const recorder = createEventRecorder({ ...options, component: 'announcer', host: nodeName });
  looking = startAddressChecks({
    ...{ ...watched, clock, log, nodeName, leaseMs, holding, answers, recorder },
    leaseObserver: createLeaseObserver(),
    renewedAt: own.renewedAt,
    metrics: createAnnouncerMetrics(options.metrics),
    allowsForeignAddresses: options.allowsForeignAddresses ?? false,
    ...(options.loadBalancerClass === undefined ? {} : { ownClass: options.loadBalancerClass }),
  });
  await own.ended;
  looking.stop();
  await answers.stop();
  await Promise.all([recorder.flushed(), watched.ended()]);
  if (failure !== undefined) throw failure;
}

function linkOf(node: Node | undefined, nodeName: string): string {
  if (node === undefined)
    throw new Error(`Cannot find the interface: there is no node "${nodeName}"`);
  const found = interfaceOf(node);
  if (found === undefined)
    throw new Error(`Cannot find the interface: none has an InternalIP of node "${nodeName}"`);
  return found;
}

type Watched = Pick<CheckParts, 'services' | 'nodes' | 'slices' | 'leases'> & {
  readonly ended: () => Promise<void>;
};

function watch({ caller, clock, log }: RunParts, signal: AbortSignal): Watched {
  const informers = createSharedInformers({ caller, clock, log }, signal);
  const slices = startInformer(
    {
      ...{ caller, clock, log, type: endpointSliceDefinition, trim: trimSlice },
      indexes: { [serviceIndex]: (slice) => [serviceOfSlice(slice)] },
    },
    signal,
  );
  return {
    services: informers.of(serviceDefinition),
    nodes: informers.of(nodeDefinition),
    leases: informers.of(leaseDefinition, {
      namespace: leaseNamespace,
      labelSelector: announcerLabel,
    }),
    slices,
    ended: async () => void (await Promise.all([informers.ended(), slices.ended])),
  };
}
